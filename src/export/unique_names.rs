//! Names that occur once in a file.

use std::collections::{HashMap, HashSet};

/// Names that occur once each: later ones of a name get a number.
#[derive(Debug, Default)]
pub struct UniqueNames {
    used: HashSet<String>,
    /// The last number of each name.
    numbers: HashMap<String, u64>,
}

impl UniqueNames {
    /// The name, with a number if it is taken.
    pub fn add(&mut self, name: String) -> String {
        if self.used.insert(name.clone()) {
            return name;
        }
        let number = self.numbers.entry(name.clone()).or_default();
        loop {
            *number += 1;
            let numbered = format!("{name}_{number}");
            if self.used.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}
