//! The colours of the page and its plots, for light and dark screens.

use plotters::style::RGBColor;

/// A colour for light and for dark screens. Plots use the light colours, all of which differ. The style sheet replaces them on
/// dark screens.
pub struct Tone {
    pub light: RGBColor,
    pub dark: RGBColor,
}

const fn tone(light: (u8, u8, u8), dark: (u8, u8, u8)) -> Tone {
    Tone { light: RGBColor(light.0, light.1, light.2), dark: RGBColor(dark.0, dark.1, dark.2) }
}

/// The background of the page.
const GROUND: Tone = tone((240, 242, 245), (13, 16, 20));
/// The background of a plot.
pub const SURFACE: Tone = tone((255, 255, 255), (24, 28, 34));
/// Headings.
pub const INK: Tone = tone((27, 31, 36), (232, 236, 241));
/// The text of axes.
pub const MUTED: Tone = tone((87, 96, 106), (158, 168, 179));
/// Grid lines with a label.
pub const GRID: Tone = tone((222, 226, 231), (48, 55, 64));
/// Grid lines without a label.
pub const FINE: Tone = tone((242, 244, 246), (34, 39, 47));
/// The colours of the series, in order. They differ in hue and in brightness.
pub const SERIES: [Tone; 6] = [
    tone((178, 64, 12), (255, 158, 100)),
    tone((0, 98, 164), (96, 186, 247)),
    tone((0, 122, 92), (94, 214, 168)),
    tone((110, 72, 160), (203, 166, 247)),
    tone((140, 40, 92), (245, 150, 195)),
    tone((92, 84, 0), (226, 210, 100)),
];

fn all() -> impl Iterator<Item = &'static Tone> {
    [&SURFACE, &INK, &MUTED, &GRID, &FINE].into_iter().chain(&SERIES)
}

/// A colour as an SVG attribute.
pub fn hex(colour: RGBColor) -> String {
    let RGBColor(red, green, blue) = colour;
    format!("#{red:02X}{green:02X}{blue:02X}")
}

/// The style rules that replace the colours of a plot on a dark screen. Printed pages keep the light colours.
pub fn style() -> String {
    let rule = |tone: &Tone| {
        let (light, dark) = (hex(tone.light), hex(tone.dark));
        format!("svg [fill=\"{light}\"] {{ fill: {dark} }}\nsvg [stroke=\"{light}\"] {{ stroke: {dark} }}\n")
    };
    let rules: String = all().map(rule).collect();
    format!(
        "svg text {{ font-family: system-ui, sans-serif }}\n@media screen and (prefers-color-scheme: dark) {{\n{rules}}}\n"
    )
}

/// The style rules that define the colours of the page and of the series as variables.
pub fn names() -> String {
    let rules = |colour: fn(&Tone) -> RGBColor| {
        let named = [("ground", &GROUND), ("surface", &SURFACE), ("ink", &INK), ("muted", &MUTED), ("grid", &GRID)];
        let named = named.map(|(name, tone)| format!("--{name}: {};", hex(colour(tone)))).join(" ");
        let series =
            SERIES.iter().enumerate().map(|(index, tone)| format!(" --series-{index}: {};", hex(colour(tone))));
        named + &series.collect::<String>()
    };
    let (light, dark) = (rules(|tone| tone.light), rules(|tone| tone.dark));
    format!(":root {{ {light} }}\n@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contrast as WCAG 2 defines it.
    fn contrast(a: RGBColor, b: RGBColor) -> f64 {
        let luminance = |RGBColor(red, green, blue)| {
            let linear = |channel: u8| {
                let channel = f64::from(channel) / 255.0;
                if channel <= 0.04045 { channel / 12.92 } else { ((channel + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
        };
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        a.max(b) / a.min(b)
    }

    #[test]
    fn text_is_legible_on_light_and_on_dark() {
        assert!((contrast(RGBColor(0, 0, 0), RGBColor(255, 255, 255)) - 21.0).abs() < 1e-9);
        for tone in [&INK, &MUTED].into_iter().chain(&SERIES) {
            for (colour, surface) in [(tone.light, SURFACE.light), (tone.dark, SURFACE.dark)] {
                assert!(contrast(colour, surface) >= 4.5, "{} on {}", hex(colour), hex(surface));
            }
        }
    }

    #[test]
    fn all_light_colours_differ() {
        let mut light: Vec<String> = all().map(|tone| hex(tone.light)).collect();
        light.sort();
        light.dedup();
        assert_eq!(light.len(), all().count());
    }
}
