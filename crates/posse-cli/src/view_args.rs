//! The options of a view: camera, background, bones.

use glam::Vec3;
use posse_render::{Background, Bones, Camera, Stage, View};

use crate::drawn_crowd::DrawnCrowd;

/// The options of a view.
#[derive(Debug, clap::Args)]
pub struct ViewArgs {
    /// The camera: its azimuth and elevation about the target in degrees, its distance from the target, and the target.
    /// Default distance and target: they show the whole crowd over the whole clip.
    #[arg(
        long,
        value_name = "AZIMUTH,ELEVATION[,DISTANCE[,X,Y,Z]]",
        allow_hyphen_values = true,
        value_parser = parse_camera
    )]
    camera: Option<CameraArg>,
    /// The background: `sky`, `none` for a transparent background, or a colour as #rrggbb.
    #[arg(long, value_name = "COLOUR", default_value = "sky", value_parser = parse_background)]
    background: Background,
    /// Draws joints and bones over the meshes.
    #[arg(long)]
    bones: bool,
}

/// The value of `--camera`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct CameraArg {
    /// Radians.
    azimuth: f32,
    /// Radians.
    elevation: f32,
    distance: Option<f32>,
    target: Option<Vec3>,
}

impl ViewArgs {
    /// The view of a crowd, for pictures with an aspect ratio of width to height.
    pub fn view(&self, drawn: &DrawnCrowd, aspect: f32) -> View {
        let stage = Stage { background: self.background, ..drawn.stage };
        let mut camera = Camera::default();
        if drawn.crowd.len() > 1 {
            camera = Camera { azimuth: 0.4, elevation: 0.36, field_of_view: 0.75, ..camera };
        }
        if let Some(given) = self.camera {
            camera = Camera { azimuth: given.azimuth, elevation: given.elevation, ..camera };
        }
        camera = fit_camera(camera, drawn, aspect);
        if let Some(given) = self.camera {
            camera.distance = given.distance.unwrap_or(camera.distance);
            camera.target = given.target.unwrap_or(camera.target);
        }
        View { camera, stage, bones: self.bones(drawn) }
    }

    /// Returns `true` if the distance of the camera is fitted to the crowd.
    #[cfg(feature = "view")]
    pub fn is_fitted(&self) -> bool {
        self.camera.is_none_or(|given| given.distance.is_none())
    }

    /// The drawing of bones: hidden if there are meshes, over the meshes with `--bones`, solid if there are no
    /// meshes.
    pub fn bones(&self, drawn: &DrawnCrowd) -> Bones {
        let meshes = drawn.figures.iter().any(|figure| !figure.meshes.is_empty());
        match (meshes, self.bones) {
            (false, _) => Bones::Solid,
            (true, true) => Bones::Over,
            (true, false) => Bones::Hidden,
        }
    }
}

/// Moves a camera, without turning it, until it shows the whole crowd in pictures with an aspect ratio of width to
/// height.
pub fn fit_camera(camera: Camera, drawn: &DrawnCrowd, aspect: f32) -> Camera {
    camera.fitted(&drawn.corners, aspect, 0.04)
}

fn parse_camera(text: &str) -> Result<CameraArg, String> {
    let number = |text: &str| text.trim().parse::<f32>().ok().filter(|number| number.is_finite());
    let numbers = text.split(',').map(number).collect::<Option<Vec<f32>>>();
    let numbers = numbers.filter(|numbers| [2, 3, 6].contains(&numbers.len()));
    let numbers = numbers.ok_or("expected 2, 3 or 6 numbers, for example 30,15 or 30,15,4 or 30,15,4,0,1,0")?;
    let distance = numbers.get(2).copied();
    if let Some(distance) = distance.filter(|&distance| distance <= 0.0) {
        return Err(format!("the distance is {distance}; it must be more than 0"));
    }
    Ok(CameraArg {
        azimuth: numbers[0].to_radians(),
        elevation: numbers[1].to_radians(),
        distance,
        target: numbers.get(3..6).map(Vec3::from_slice),
    })
}

fn parse_background(text: &str) -> Result<Background, String> {
    match text {
        "sky" => Ok(Background::Sky),
        "none" => Ok(Background::Transparent),
        _ => {
            let digits = text.strip_prefix('#').unwrap_or(text);
            let byte = |at: usize| digits.get(at..at + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
            match [byte(0), byte(2), byte(4)] {
                [Some(red), Some(green), Some(blue)] if digits.len() == 6 => Ok(Background::Colour([red, green, blue])),
                _ => Err("expected `sky`, `none` or a colour such as #3366cc".into()),
            }
        }
    }
}
