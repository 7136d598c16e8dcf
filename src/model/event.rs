//! What a clip calls for at a moment.

/// A call that a clip makes when its play passes a time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Event {
    /// Seconds on the clip's own axis.
    pub time: f64,
    /// What is called.
    pub function: String,
    /// What it is given: strings as they are, anything else as JSON.
    pub parameters: Vec<String>,
}
