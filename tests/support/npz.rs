//! Files of NumPy, written as its documentation describes them: `numpy.lib.format`, and zip files of stored members.

/// A `.npy` file of version 1 with these bytes as numbers.
pub fn npy(descr: &str, is_fortran: bool, shape: &[usize], numbers: &[u8]) -> Vec<u8> {
    let shape: String = shape.iter().map(|length| format!("{length},")).collect();
    let is_fortran = if is_fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {is_fortran}, 'shape': ({shape}), }}\n");
    [&b"\x93NUMPY\x01\x00"[..], &(header.len() as u16).to_le_bytes(), header.as_bytes(), numbers].concat()
}

/// An array of `f64`.
pub fn doubles(shape: &[usize], numbers: &[f64]) -> Vec<u8> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    npy("<f8", false, shape, &bytes)
}

/// An `.npz` file of these arrays.
pub fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in arrays {
        let name = format!("{name}.npy");
        let size = (content.len() as u32).to_le_bytes();
        let head = [
            &[20, 0, 0, 0, 0, 0, 0, 0, 0, 0][..],
            &checksum(content).to_le_bytes(),
            &size,
            &size,
            &(name.len() as u16).to_le_bytes(),
        ]
        .concat();
        let offset = (file.len() as u32).to_le_bytes();
        directory.extend([&b"PK\x01\x02\x14\x00"[..], &head, &[0; 12], &offset, name.as_bytes()].concat());
        file.extend([&b"PK\x03\x04"[..], &head, &[0; 2], name.as_bytes(), content].concat());
    }
    let count = (arrays.len() as u16).to_le_bytes();
    let places = [directory.len(), file.len()].map(|length| (length as u32).to_le_bytes());
    [&file[..], &directory, b"PK\x05\x06\0\0\0\0", &count, &count, places.as_flattened(), &[0; 2]].concat()
}

/// The same file with the checksums of its stored members in its directory, as far as it can be read.
pub fn with_checksums(file: &[u8]) -> Vec<u8> {
    let mut result = file.to_vec();
    let number = |place: usize| -> Option<usize> {
        Some(u32::from_le_bytes(file.get(place..)?.first_chunk().copied()?) as usize)
    };
    for place in 0..file.len().saturating_sub(46) {
        if !file[place..].starts_with(b"PK\x01\x02") {
            continue;
        }
        let member = || {
            let (size, offset) = (number(place + 20)?, number(place + 42)?);
            let names = number(offset + 26)?;
            file.get(offset + 30 + (names & 0xFFFF) + (names >> 16)..)?.get(..size)
        };
        if let Some(member) = member() {
            result[place + 16..place + 20].copy_from_slice(&checksum(member).to_le_bytes());
        }
    }
    result
}

/// CRC-32 of the zip format.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum: u32, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xEDB8_8320 } else { sum >> 1 })
    })
}
