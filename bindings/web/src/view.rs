//! The view: a crowd on a canvas.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use posse::glam::Vec3;
use posse::gpu::GpuContext;
use posse::wgpu;
use posse_render::{Arrangement, demo, tint};
use posse_render::{Background, Bones, Camera, Canvas, PoseBuffers, Renderer, Scene, Stage, Target};
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;

use crate::crowd::{Crowd, SharedCrowd};
use crate::gpu::{Gpu, canvas_format};
use crate::js::{Result, object, options, ticks};
use crate::library::Library;

/// The most pixels of a side of a canvas. Devices allow fewer, and say so.
const MAX_SIDE: f64 = 65_536.0;

/// Draws a crowd on a canvas.
#[wasm_bindgen]
pub struct View {
    shared: Rc<SharedView>,
}

struct SharedView {
    gpu: GpuContext,
    is_software: bool,
    renderer: Renderer,
    surface: wgpu::Surface<'static>,
    format: wgpu::TextureFormat,
    canvas: RefCell<Canvas>,
    shown: RefCell<Option<Shown>>,
    /// The number of the last call of `show` or `resize`. A call that another has overtaken changes nothing.
    calls: Cell<[u32; 2]>,
}

/// The crowd that is shown.
struct Shown {
    crowd: Rc<SharedCrowd>,
    scene: Scene,
    stage: Stage,
    corners: Vec<Vec3>,
    bones: Bones,
}

/// A camera: `CameraOptions` of `posse.d.ts`.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
struct CameraOptions {
    yaw: f32,
    pitch: f32,
    distance: f32,
    target: [f32; 3],
}

/// The options of a view: `ViewOptions` of `posse.d.ts`.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct ViewOptions {
    samples: Option<u32>,
}

/// The options of a crowd that is shown: `ShowOptions` of `posse.d.ts`.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct ShowOptions {
    background: Option<[u8; 3]>,
}

impl Default for CameraOptions {
    fn default() -> Self {
        let Camera { azimuth, elevation, distance, .. } = Camera::default();
        Self { yaw: azimuth, pitch: elevation, distance, target: [0.0; 3] }
    }
}

impl CameraOptions {
    /// Reads the options. Numbers are finite in an `f32`, and a distance is not negative.
    fn read(value: &JsValue) -> Result<Self> {
        let camera: Self = options("camera", value)?;
        let [x, y, z] = camera.target;
        let numbers = [camera.yaw, camera.pitch, camera.distance, x, y, z];
        let names = ["yaw", "pitch", "distance", "target[0]", "target[1]", "target[2]"];
        match names.into_iter().zip(numbers).find(|(_, number)| !number.is_finite()) {
            Some((name, _)) => Err(JsError::new(&format!("camera.{name}: expected a number in the range of an f32"))),
            None if camera.distance < 0.0 => {
                Err(JsError::new(&format!("camera.distance: found {}, expected 0 or more", camera.distance)))
            }
            None => Ok(camera),
        }
    }
}

impl From<CameraOptions> for Camera {
    fn from(options: CameraOptions) -> Self {
        let CameraOptions { yaw, pitch, distance, target } = options;
        Self { target: target.into(), azimuth: yaw, elevation: pitch, distance: distance.max(1e-6), ..Self::default() }
    }
}

#[wasm_bindgen]
impl View {
    /// Prepares to draw on a canvas.
    pub async fn open(gpu: &Gpu, canvas: JsValue, view_options: JsValue) -> Result<View> {
        let view_options: ViewOptions = options("options", &view_options)?;
        let is_software = gpu.is_software();
        let samples = view_options.samples.unwrap_or(if is_software { 1 } else { 4 });
        if samples != 1 && samples != 4 {
            return Err(JsError::new(&format!("options.samples: found {samples}, expected 1 or 4")));
        }
        let context = gpu.context.clone();
        let (surface_target, size) = surface_target(&canvas)?;
        let surface = GpuContext::instance()
            .create_surface(surface_target)
            .map_err(|error| JsError::new(&format!("the canvas gives no WebGPU context: {error}")))?;
        let format = canvas_format();
        let target = Target { format: format.add_srgb_suffix(), samples };
        let renderer = Renderer::new_async(&context.device, &context.queue, target).await?;
        let canvas = RefCell::new(Canvas::new_async(&context.device, target, size).await?);
        let (shown, calls) = (RefCell::default(), Cell::default());
        let shared = SharedView { gpu: context, is_software, renderer, surface, format, canvas, shown, calls };
        shared.configure(size);
        Ok(Self { shared: Rc::new(shared) })
    }

    /// Shows a crowd from the next frame on.
    pub async fn show(&self, library: &Library, crowd: &Crowd, show_options: JsValue) -> Result<()> {
        let show_options: ShowOptions = options("options", &show_options)?;
        let (shared, library, crowd) = (self.shared.clone(), library.shared.clone(), crowd.shared.clone());
        let call = shared.begin_call(0);
        let model = crowd.crowd();
        let drawn = library.drawn(model.len(), shared.is_software)?;
        let bones = if drawn.has_meshes() { Bones::Hidden } else { Bones::Solid };
        let needed = posse_render::needed_outputs(&drawn.figures, bones != Bones::Hidden);
        let has = crowd.outputs();
        for (name, needed, has) in [
            ("skin", needed.skin, has.skin),
            ("model", needed.model, has.model),
            ("weights", needed.weights, has.weights),
            ("properties", needed.properties, has.properties),
        ] {
            if needed && !has {
                return Err(JsError::new(&format!(
                    "the crowd has no output to draw from; create it with {{ {name}: true }}"
                )));
            }
        }
        let Arrangement { placements, corners, mut stage } = Arrangement::new(
            &model,
            &drawn.figures,
            &drawn.bounds,
            |_| 1.0,
            |instance| match library.is_demo {
                true => demo::dyes(instance),
                false => [tint(instance); 5],
            },
        );
        if let Some(colour) = show_options.background {
            stage.background = Background::Colour(colour);
        }
        let source = library.source();
        let poses = crowd.gpu_crowd.batches().iter().map(PoseBuffers::from);
        let scene = Scene::new_async(&shared.renderer, &source.library, &drawn.figures, poses, &placements).await?;
        if shared.is_last_call(0, call) {
            shared.shown.replace(Some(Shown { crowd, scene, stage, corners, bones }));
        }
        Ok(())
    }

    /// Poses the crowd at a time and draws it.
    pub fn draw(&self, time: f64, camera: &JsValue) -> Result<()> {
        let camera = CameraOptions::read(camera)?;
        let now = ticks("time", time)?;
        let shared = &self.shared;
        let shown = shared.shown.borrow();
        let Some(shown) = shown.as_ref() else {
            return Err(JsError::new("there is nothing to draw yet; await show first"));
        };
        let Some(texture) = shared.texture() else { return Ok(()) };
        let format = Some(shared.format.add_srgb_suffix());
        let output = texture.texture.create_view(&wgpu::TextureViewDescriptor { format, ..Default::default() });
        let mut encoder = shared.gpu.device.create_command_encoder(&Default::default());
        shown.crowd.encode(&mut encoder, now.into());
        let view = posse_render::View { camera: camera.into(), stage: shown.stage, bones: shown.bones };
        shared.renderer.draw(&mut encoder, &shared.canvas.borrow(), &output, &shown.scene, &view);
        shared.gpu.queue.submit([encoder.finish()]);
        shared.gpu.queue.present(texture);
        Ok(())
    }

    /// Changes the size of the canvas in pixels.
    pub async fn resize(&self, width: f64, height: f64) -> Result<()> {
        let shared = self.shared.clone();
        let size = [side("width", width)?, side("height", height)?];
        let call = shared.begin_call(1);
        let canvas = Canvas::new_async(&shared.gpu.device, shared.renderer.target(), size).await?;
        if shared.is_last_call(1, call) {
            shared.configure(size);
            shared.canvas.replace(canvas).destroy();
        }
        Ok(())
    }

    /// The camera that shows the whole crowd from the angles of `camera`.
    pub fn fit(&self, camera: &JsValue) -> Result<JsValue> {
        let camera = CameraOptions::read(camera)?;
        let shown = self.shared.shown.borrow();
        let Some(shown) = shown.as_ref() else {
            return Err(JsError::new("there is nothing to fit yet; await show first"));
        };
        let fitted = Camera::from(camera).fitted(&shown.corners, self.shared.canvas.borrow().aspect(), 0.05);
        let Camera { azimuth: yaw, elevation: pitch, distance, target, .. } = fitted;
        object(&CameraOptions { yaw, pitch, distance, target: target.to_array() })
    }
}

impl SharedView {
    fn begin_call(&self, kind: usize) -> u32 {
        let mut calls = self.calls.get();
        calls[kind] = calls[kind].wrapping_add(1);
        self.calls.set(calls);
        calls[kind]
    }

    fn is_last_call(&self, kind: usize, call: u32) -> bool {
        self.calls.get()[kind] == call
    }

    fn configure(&self, [width, height]: [u32; 2]) {
        self.surface.configure(
            &self.gpu.device,
            &wgpu::SurfaceConfiguration {
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
                format: self.format,
                width,
                height,
                present_mode: wgpu::PresentMode::Fifo,
                desired_maximum_frame_latency: 2,
                alpha_mode: wgpu::CompositeAlphaMode::Opaque,
                view_formats: vec![self.format.add_srgb_suffix()],
                color_space: Default::default(),
            },
        );
    }

    /// The texture of the next frame; `None` if the canvas or the device is lost.
    fn texture(&self) -> Option<wgpu::SurfaceTexture> {
        use wgpu::CurrentSurfaceTexture as Current;
        match self.surface.get_current_texture() {
            Current::Success(texture) | Current::Suboptimal(texture) => Some(texture),
            _ => None,
        }
    }
}

/// The pixels of a side of a canvas. Fractions are cut off.
fn side(name: &str, pixels: f64) -> Result<u32> {
    if !(0.0..=MAX_SIDE).contains(&pixels) {
        return Err(JsError::new(&format!("{name}: found {pixels}, expected 0 to {MAX_SIDE} pixels")));
    }
    Ok((pixels as u32).max(1))
}

/// The target of a surface, and the size of the canvas.
fn surface_target(canvas: &JsValue) -> Result<(wgpu::SurfaceTarget<'static>, [u32; 2])> {
    let size = |width: u32, height: u32| [width.max(1), height.max(1)];
    if let Some(canvas) = canvas.dyn_ref::<web_sys::OffscreenCanvas>() {
        return Ok((wgpu::SurfaceTarget::OffscreenCanvas(canvas.clone()), size(canvas.width(), canvas.height())));
    }
    if let Some(canvas) = canvas.dyn_ref::<web_sys::HtmlCanvasElement>() {
        return Ok((wgpu::SurfaceTarget::Canvas(canvas.clone()), size(canvas.width(), canvas.height())));
    }
    Err(JsError::new("canvas: expected an HTMLCanvasElement or an OffscreenCanvas"))
}
