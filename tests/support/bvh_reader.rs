//! A second reader of BVH files, for files that posse writes: words at spaces, matrices of single rotations.

use glam::{DMat4, DVec3};

/// A file: its joints with End Sites, and their model matrices in each frame.
pub struct BvhMotion {
    pub names: Vec<String>,
    pub frame_time: f64,
    pub frames: Vec<Vec<DMat4>>,
    /// The angles of each frame in degrees, joint after joint.
    pub angles: Vec<Vec<f64>>,
}

struct Node {
    parent: Option<usize>,
    offset: DVec3,
    channels: Vec<String>,
}

/// Reads a file. Positions replace the OFFSET.
pub fn read_bvh(text: &str) -> BvhMotion {
    let mut words = text.split_whitespace();
    let (mut names, mut nodes, mut open) = (Vec::<String>::new(), Vec::<Node>::new(), Vec::<usize>::new());
    assert_eq!(words.next(), Some("HIERARCHY"));
    loop {
        let word = words.next().unwrap();
        let number = |word: Option<&str>| word.unwrap().parse::<f64>().unwrap();
        match word {
            "ROOT" | "JOINT" | "End" => {
                let name = words.next().unwrap();
                let parent = open.last().copied();
                assert_eq!(parent.is_none(), word == "ROOT");
                let name = if word == "End" { format!("{}_end", names[parent.unwrap()]) } else { name.to_owned() };
                nodes.push(Node { parent, offset: DVec3::ZERO, channels: Vec::new() });
                open.push(nodes.len() - 1);
                assert_eq!(words.next(), Some("{"), "{name}");
                names.push(name);
            }
            "OFFSET" => {
                let offset = [0; 3].map(|_| number(words.next()));
                nodes[*open.last().unwrap()].offset = offset.into();
            }
            "CHANNELS" => {
                let count = words.next().unwrap().parse::<usize>().unwrap();
                let channels = (0..count).map(|_| words.next().unwrap().to_owned()).collect();
                nodes[*open.last().unwrap()].channels = channels;
            }
            "}" => {
                open.pop().unwrap();
            }
            "MOTION" => break,
            _ => panic!("{word}"),
        }
    }
    assert!(open.is_empty());
    assert_eq!(words.next(), Some("Frames:"));
    let frames: usize = words.next().unwrap().parse().unwrap();
    assert_eq!((words.next(), words.next()), (Some("Frame"), Some("Time:")));
    let frame_time = words.next().unwrap().parse().unwrap();
    let (mut all, mut angles) = (Vec::new(), Vec::new());
    for _ in 0..frames {
        let mut of_frame = Vec::new();
        let mut matrices: Vec<DMat4> = Vec::new();
        for node in &nodes {
            let (mut place, mut rotation) = (node.offset, DMat4::IDENTITY);
            for channel in &node.channels {
                let number: f64 = words.next().unwrap().parse().unwrap();
                match channel.as_str() {
                    "Xposition" => place.x = number,
                    "Yposition" => place.y = number,
                    "Zposition" => place.z = number,
                    _ => of_frame.push(number),
                }
                match channel.as_str() {
                    "Xrotation" => rotation *= DMat4::from_rotation_x(number.to_radians()),
                    "Yrotation" => rotation *= DMat4::from_rotation_y(number.to_radians()),
                    "Zrotation" => rotation *= DMat4::from_rotation_z(number.to_radians()),
                    _ => {}
                }
            }
            let local = DMat4::from_translation(place) * rotation;
            matrices.push(node.parent.map_or(local, |parent| matrices[parent] * local));
        }
        all.push(matrices);
        angles.push(of_frame);
    }
    assert_eq!(words.next(), None);
    BvhMotion { names, frame_time, frames: all, angles }
}

impl BvhMotion {
    /// The matrix of a joint in a frame; `None` unless exactly one has the name.
    pub fn matrix(&self, name: &str, frame: usize) -> Option<DMat4> {
        let mut found = (0..self.names.len()).filter(|&joint| self.names[joint] == name);
        let joint = found.next()?;
        found.next().is_none().then(|| self.frames[frame][joint])
    }

    /// The largest change of an angle from one frame to the next, in degrees.
    pub fn largest_step(&self) -> f64 {
        let steps =
            self.angles.windows(2).flat_map(|pair| pair[0].iter().zip(&pair[1]).map(|(one, two)| (one - two).abs()));
        steps.fold(0.0, f64::max)
    }
}
