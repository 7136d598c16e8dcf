//! Images: files beside the document, data URIs, buffer views.

use ::gltf::json::Root;

use crate::import::fault::Fault;
use crate::import::gltf::at::At;
use crate::import::gltf::reader::Reader;
use crate::render::Image;

/// An image of the file. `path` is where its index stands.
pub(super) fn read(reader: &mut Reader, root: &Root, index: usize, path: &At) -> Result<Image, Fault> {
    let count = root.images.len();
    let image = root.images.get(index).ok_or_else(|| Fault::index(path.field("source"), index, "images", count))?;
    let place = At::top("images", index);
    let decoded = match (&image.uri, image.buffer_view) {
        (Some(uri), _) => Image::decode(&reader.resource(uri, &place.field("uri"))?),
        (None, Some(view)) => Image::decode(reader.view(view.value(), &place.field("bufferView"))?.bytes()),
        (None, None) => Err("it has neither a uri nor a bufferView".into()),
    };
    let image = decoded.map_err(|reason| Fault::new(place, reason))?;
    // With the smaller ones that are made of it.
    reader.charge(&place, image.pixels.len() as u64, 2)?;
    Ok(image)
}
