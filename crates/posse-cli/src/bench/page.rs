//! The page of `--report`: one HTML file with the JSON of a run, and the scripts that draw it in a browser.

use std::io::{self, Write};
use std::path::Path;

use posse::Error;
use serde_json::Value;

const STYLE: &str = include_str!("page/style.css");
/// The charts, which the page of `web/` draws with, too: `web/build` copies this file.
const CHART: &str = include_str!("page/chart.js");
const REPORT: &str = include_str!("page/report.js");

/// Fails for a file whose extension is not the extension of a page.
pub fn check_name(file: &Path) -> Result<(), Error> {
    let extension = file.extension().unwrap_or_default().to_ascii_lowercase();
    if extension == "html" || extension == "htm" {
        return Ok(());
    }
    Err(Error::Usage(format!("{}: the extension of a report is .html", file.display())))
}

/// Writes the page of a run. Its policy allows no other file.
pub fn write(run: &Value, out: &mut impl Write) -> io::Result<()> {
    let json = in_script(&run.to_string());
    write!(
        out,
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">
<title>posse bench</title>
<style>
{STYLE}</style>
</head>
<body>
<main></main>
<noscript><p>This page needs JavaScript to draw its figures. They stand in its source as JSON.</p></noscript>
<script id="run" type="application/json">{json}</script>
<script type="module">
{CHART}
{REPORT}</script>
</body>
</html>
"#
    )
}

/// JSON that stays within its script element: `<` is escaped, so that neither `</script` nor `<!--` occurs, and the
/// line ends that older scripts do not know.
fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_in_a_script_neither_ends_it_nor_changes() {
        let run = json!({ "</script><!--": "a\u{2028}b\u{2029}\\<\"é" });
        let text = in_script(&run.to_string());
        assert!(!text.contains(['<', '\u{2028}', '\u{2029}']), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), run);
    }

    #[test]
    fn the_scripts_stay_within_their_element() {
        for script in [CHART, REPORT] {
            assert!(!script.contains("</") && !script.contains("<!--"));
        }
    }
}
