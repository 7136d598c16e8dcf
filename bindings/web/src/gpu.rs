//! The device.

use js_sys::{Promise, Reflect};
use posse::{AdapterKind, GpuContext};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};

use crate::js::Result;

/// A WebGPU device.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Gpu {
    pub(crate) context: GpuContext,
    lost: Promise,
}

/// The hint in errors of pages without WebGPU.
const HINT: &str = "use a current Chrome, Edge, Safari or Firefox, open the page over https or from localhost, and switch \
                      hardware acceleration on";

#[wasm_bindgen]
impl Gpu {
    /// Opens the device.
    pub async fn open() -> Result<Gpu> {
        if member(&member(&js_sys::global(), "navigator"), "gpu").is_falsy() {
            return Err(JsError::new(&format!("this browser has no WebGPU here; {HINT}")));
        }
        let context = GpuContext::new_async(AdapterKind::Any).await.map_err(|error| match error {
            posse::Error::NoAdapter { .. } => {
                JsError::new(&format!("WebGPU finds no graphics adapter on this machine; {HINT}"))
            }
            error => error.into(),
        })?;
        // By default, an error that no call awaits would stop the module.
        context.device.on_uncaptured_error(std::sync::Arc::new(|error| {
            web_sys::console::error_1(&format!("posse: WebGPU reports: {error}").into());
        }));
        let lost = loss(&context);
        Ok(Self { context, lost })
    }

    /// The adapter in one line.
    #[wasm_bindgen(getter)]
    pub fn name(&self) -> String {
        let info = member(&self.device(), "adapterInfo");
        let mut found: Vec<String> = Vec::new();
        for field in ["description", "device", "vendor", "architecture"] {
            let text = member(&info, field).as_string().unwrap_or_default();
            if !text.is_empty() && found.iter().all(|known| !known.to_lowercase().contains(&text.to_lowercase())) {
                found.push(text);
            }
        }
        if found.is_empty() { "an adapter without a name".into() } else { found.join(", ") }
    }

    /// True for a software renderer.
    #[wasm_bindgen(getter, js_name = isSoftware)]
    pub fn is_software(&self) -> bool {
        let name = self.name().to_lowercase();
        let is_known = ["swiftshader", "llvmpipe", "lavapipe", "basic render"].iter().any(|known| name.contains(known));
        is_known || !self.context.is_hardware()
    }

    /// The `GPUDevice`.
    #[wasm_bindgen(getter)]
    pub fn device(&self) -> JsValue {
        self.context.device.as_webgpu().map_or(JsValue::UNDEFINED, |device| device.into())
    }

    /// Resolves with the reason when the device is lost.
    #[wasm_bindgen(getter)]
    pub fn lost(&self) -> Promise {
        self.lost.clone()
    }
}

/// A promise that resolves with the reason of the loss of a device.
fn loss(context: &GpuContext) -> Promise {
    let device: JsValue = context.device.as_webgpu().map_or(JsValue::UNDEFINED, |device| device.into());
    let lost = Promise::resolve(&member(&device, "lost"));
    future_to_promise(async move {
        let info = JsFuture::from(lost).await?;
        let reason = match member(&info, "reason").as_string().as_deref() {
            Some("destroyed") => "the device was destroyed",
            _ => "the browser took the device away",
        };
        let message = member(&info, "message").as_string().unwrap_or_default();
        Ok(if message.is_empty() { reason.into() } else { format!("{reason}: {message}").into() })
    })
}

/// A member of an object; `undefined` if there is none.
fn member(object: &JsValue, name: &str) -> JsValue {
    if object.is_object() { Reflect::get(object, &name.into()).unwrap_or_default() } else { JsValue::UNDEFINED }
}
