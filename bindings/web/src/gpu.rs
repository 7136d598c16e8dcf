//! The device.

use js_sys::{Object, Promise, Reflect};
use posse::gpu::GpuContext;
use posse::wgpu;
use serde::Deserialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};

use crate::js::{Result, member, options, set};

/// A WebGPU device.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Gpu {
    pub(crate) context: GpuContext,
    lost: Promise,
}

/// The hint in errors of pages and programs without WebGPU.
const HINT: &str = "use a current Chrome, Edge, Safari or Firefox, open the page over https or from localhost, and switch \
                      hardware acceleration on; in Node.js, navigator.gpu has to come from the package webgpu";

/// The options of a device: `OpenOptions` of `posse.d.ts`, without its `device`.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
struct OpenOptions {
    features: Vec<String>,
    power_preference: Option<PowerChoice>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum PowerChoice {
    LowPower,
    HighPerformance,
}

impl OpenOptions {
    /// The features by their names in WebGPU.
    fn features(&self) -> Result<wgpu::Features> {
        let mut features = wgpu::Features::empty();
        for name in &self.features {
            let found = name.parse::<wgpu::Features>();
            features |=
                found.map_err(|()| JsError::new(&format!("options.features: wgpu knows no feature {name:?}")))?;
        }
        Ok(features)
    }
}

impl Gpu {
    /// Opens a device by checked options.
    async fn open_device(own: Option<JsValue>, choices: OpenOptions, features: wgpu::Features) -> Result<Gpu> {
        let navigator_gpu = member(&member(&js_sys::global(), "navigator"), "gpu");
        if navigator_gpu.is_falsy() {
            return Err(JsError::new(&format!("there is no WebGPU here; {HINT}")));
        }
        let power_preference = match choices.power_preference {
            None => wgpu::PowerPreference::None,
            Some(PowerChoice::LowPower) => wgpu::PowerPreference::LowPower,
            Some(PowerChoice::HighPerformance) => wgpu::PowerPreference::HighPerformance,
        };
        let request = wgpu::RequestAdapterOptions { power_preference, ..Default::default() };
        let instance = instance();
        let adapter = match &own {
            Some(device) => request_adapter_of(device, &navigator_gpu, || instance.request_adapter(&request)).await,
            None => instance.request_adapter(&request).await,
        };
        let adapter =
            adapter.map_err(|_| JsError::new(&format!("WebGPU finds no graphics adapter on this machine; {HINT}")))?;
        let context = GpuContext::with_features_async(&adapter, features).await?;
        let lost = loss(&context);
        if own.is_some() {
            // The page listens to the errors of its device.
            return Ok(Self { context, lost });
        }
        // By default, an error that no call awaits would stop the module.
        context.device.on_uncaptured_error(std::sync::Arc::new(|error| {
            web_sys::console::error_1(&format!("posse: WebGPU reports: {error}").into());
        }));
        Ok(Self { context, lost })
    }
}

#[wasm_bindgen]
impl Gpu {
    /// Opens a device, or takes one of the page. The error of a mistake in the options has the `code` `options`.
    pub async fn open(open_options: JsValue) -> std::result::Result<Gpu, JsValue> {
        let (own, choices, features) = choices(open_options).map_err(|error| {
            let error = JsValue::from(error);
            set(error.unchecked_ref(), "code", &"options".into());
            error
        })?;
        Ok(Self::open_device(own, choices, features).await?)
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

/// The instance of wgpu. By the names of these classes, wgpu knows whether it is in a page or in a worker, and panics
/// in Node.js, which has none of them. It reads `navigator.gpu` when the instance is made.
fn instance() -> wgpu::Instance {
    let global = js_sys::global();
    if ["Window", "WorkerGlobalScope"].iter().any(|name| !member(&global, name).is_undefined()) {
        return GpuContext::instance();
    }
    set(&global, "Window", &Object::new());
    let instance = GpuContext::instance();
    let _ = Reflect::delete_property(&global, &"Window".into());
    instance
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = ["navigator", "gpu"], js_name = getPreferredCanvasFormat)]
    fn preferred_canvas_format() -> String;
}

/// The format of a canvas that this machine shows without a conversion.
pub fn canvas_format() -> wgpu::TextureFormat {
    match preferred_canvas_format().as_str() {
        "rgba8unorm" => wgpu::TextureFormat::Rgba8Unorm,
        _ => wgpu::TextureFormat::Bgra8Unorm,
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

/// The device, the choices and the features of some options.
fn choices(open_options: JsValue) -> Result<(Option<JsValue>, OpenOptions, wgpu::Features)> {
    let (own, others) = split_device(open_options)?;
    let choices: OpenOptions = options("options", &others)?;
    let features = choices.features()?;
    Ok((own, choices, features))
}

/// The device of some options, if there is one, and the other options.
fn split_device(open_options: JsValue) -> Result<(Option<JsValue>, JsValue)> {
    let device = member(&open_options, "device");
    if device.is_undefined() {
        return Ok((None, open_options));
    }
    if !member(&device, "queue").is_object() {
        return Err(JsError::new("options.device: expected a GPUDevice"));
    }
    let others = Object::assign(&Object::new(), open_options.unchecked_ref::<Object>());
    let _ = Reflect::delete_property(&others, &"device".into());
    Ok((Some(device), others.into()))
}

/// Calls `request`, by which wgpu requests an adapter, so that wgpu gets an adapter whose device is the given one.
///
/// wgpu 30 takes in textures of the page, but no device: `Device::as_webgpu` has no counterpart. It gets devices from
/// `navigator.gpu` alone. During this call, which does not wait, `navigator.gpu` answers with an object that has the
/// members of an adapter that wgpu uses.
fn request_adapter_of<T>(device: &JsValue, navigator_gpu: &JsValue, request: impl FnOnce() -> T) -> T {
    let adapter = Object::new();
    let info = match member(device, "adapterInfo") {
        info if info.is_object() => info,
        _ => {
            let nameless = Object::new();
            set(&nameless, "description", &"".into());
            nameless.into()
        }
    };
    set(&adapter, "info", &info);
    set(&adapter, "features", &member(device, "features"));
    set(&adapter, "limits", &member(device, "limits"));
    set(&adapter, "requestDevice", &resolving(device.clone()));
    let navigator_gpu: &Object = navigator_gpu.unchecked_ref();
    // It hides the method of the prototype.
    set(navigator_gpu, "requestAdapter", &resolving(adapter.into()));
    let requested = request();
    let _ = Reflect::delete_property(navigator_gpu, &"requestAdapter".into());
    requested
}

/// A function that returns a promise of a value, once.
fn resolving(value: JsValue) -> JsValue {
    Closure::<dyn FnMut() -> Promise>::once_into_js(move || Promise::resolve(&value))
}
