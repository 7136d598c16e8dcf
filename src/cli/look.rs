//! How a picture is to look: its size, its camera, what is behind it.

use glam::Vec3;
use posse::render::{Background, Bones, Camera, Stage, View};

use crate::cli::subject::Subject;

/// How a picture is to look.
#[derive(Debug, clap::Args)]
pub struct LookArgs {
    /// Where the camera is: turned about the target and above it in degrees, its distance, and the target; what is left out
    /// is fitted to all that is seen over the clip.
    #[arg(
        long,
        value_name = "AZIMUTH,ELEVATION[,DISTANCE[,X,Y,Z]]",
        allow_hyphen_values = true,
        value_parser = camera
    )]
    camera: Option<Orbit>,
    /// What is behind all: `sky`, `none` for a picture with an alpha, or a colour as #rrggbb.
    #[arg(long, value_name = "COLOUR", default_value = "sky", value_parser = background)]
    background: Background,
    /// Draws joints and bones over the meshes.
    #[arg(long)]
    skeleton: bool,
}

/// Where a camera is, as far as it was said.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Orbit {
    azimuth: f32,
    elevation: f32,
    distance: Option<f32>,
    target: Option<Vec3>,
}

impl LookArgs {
    /// The view of a subject, for pictures so many times as wide as high.
    pub fn view(&self, subject: &Subject, aspect: f32) -> View {
        let stage = Stage { background: self.background, ..subject.stage };
        let mut camera = Camera::default();
        if subject.crowd.len() > 1 {
            camera = Camera { azimuth: 0.4, elevation: 0.36, field_of_view: 0.75, ..camera };
        }
        if let Some(orbit) = self.camera {
            camera = Camera { azimuth: orbit.azimuth, elevation: orbit.elevation, ..camera };
        }
        camera = fitted(camera, subject, aspect);
        if let Some(orbit) = self.camera {
            camera.distance = orbit.distance.unwrap_or(camera.distance);
            camera.target = orbit.target.unwrap_or(camera.target);
        }
        View { camera, stage, bones: self.bones(subject) }
    }

    /// Whether the camera's place was left to be fitted.
    #[cfg(feature = "view")]
    pub fn is_fitted(&self) -> bool {
        self.camera.is_none_or(|orbit| orbit.distance.is_none())
    }

    /// Whether bones are drawn: over meshes where they are asked for, as they are where there is no mesh.
    pub fn bones(&self, subject: &Subject) -> Bones {
        let meshes = subject.figures.iter().any(|figure| !figure.parts.is_empty());
        match (meshes, self.skeleton) {
            (false, _) => Bones::Solid,
            (true, true) => Bones::Over,
            (true, false) => Bones::Hidden,
        }
    }
}

/// A camera that sees all of a subject from where it looks, in pictures so many times as wide as high.
pub fn fitted(camera: Camera, subject: &Subject, aspect: f32) -> Camera {
    let whole = subject.stage.bounds.corners();
    let points = if subject.corners.is_empty() { &whole[..] } else { &subject.corners };
    camera.fitted(points, aspect, 0.04)
}

/// Pixels to the right and down.
pub fn size(text: &str) -> Result<[u32; 2], String> {
    let (width, height) = text.split_once(['x', 'X']).ok_or("not two numbers, as in 1280x720")?;
    let number = |text: &str| text.trim().parse::<u32>().map_err(|error| error.to_string());
    match [number(width)?, number(height)?] {
        size if size.contains(&0) => Err("a side of 0".into()),
        size => Ok(size),
    }
}

fn camera(text: &str) -> Result<Orbit, String> {
    let number = |text: &str| match text.trim().parse::<f32>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(_) => Err("not a finite number".to_string()),
        Err(error) => Err(error.to_string()),
    };
    let numbers = text.split(',').map(number).collect::<Result<Vec<f32>, _>>()?;
    let (azimuth, elevation, distance, target) = match numbers[..] {
        [azimuth, elevation] => (azimuth, elevation, None, None),
        [azimuth, elevation, distance] => (azimuth, elevation, Some(distance), None),
        [azimuth, elevation, distance, x, y, z] => (azimuth, elevation, Some(distance), Some(Vec3::new(x, y, z))),
        _ => return Err("not 2, 3 or 6 numbers, as in 30,15 or 30,15,4 or 30,15,4,0,1,0".into()),
    };
    if distance.is_some_and(|distance| distance <= 0.0) {
        return Err("the distance is not more than 0".into());
    }
    Ok(Orbit { azimuth: azimuth.to_radians(), elevation: elevation.to_radians(), distance, target })
}

fn background(text: &str) -> Result<Background, String> {
    match text {
        "sky" => Ok(Background::Sky),
        "none" => Ok(Background::Transparent),
        _ => {
            let digits = text.strip_prefix('#').unwrap_or(text);
            let byte = |at: usize| digits.get(at..at + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
            match [byte(0), byte(2), byte(4)] {
                [Some(red), Some(green), Some(blue)] if digits.len() == 6 => Ok(Background::Colour([red, green, blue])),
                _ => Err("not `sky`, `none` or a colour as #3366cc".into()),
            }
        }
    }
}
