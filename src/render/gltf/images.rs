//! Images: files beside the document, data URIs, buffer views.

use super::document::Document;
use crate::import::fault::Fault;
use crate::import::gltf::at::At;
use crate::import::gltf::reader::Reader;
use crate::render::image::Image;

/// An image of the file. `path` is where its index stands.
pub(super) fn read(reader: &mut Reader, document: &Document, index: usize, path: &At) -> Result<Image, Fault> {
    let count = document.images.len();
    let image = document.images.get(index).ok_or_else(|| Fault::index(path.field("source"), index, "images", count))?;
    let place = At::top("images", index);
    let broken = |reason: String| Fault::new(place, reason);
    if let Some(uri) = &image.uri {
        let bytes = reader.resource(uri, &place.field("uri"))?;
        return Image::decode(&bytes).map_err(broken);
    }
    let view = image.buffer_view.ok_or_else(|| broken("it has neither a uri nor a bufferView".into()))?;
    let view = reader.view(view, &place.field("bufferView"))?;
    Image::decode(view.bytes()).map_err(broken)
}
