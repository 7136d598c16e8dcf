//! Repeatable random choices.

use serde_json::{Value, json};

/// A generator of repeatable random choices.
pub struct Dice {
    pub(super) state: u64,
    /// `true` if some numbers are extreme.
    pub(super) extreme: bool,
    /// One number in this many is replaced by a wrong value; 0 means none.
    pub(super) faulty: usize,
}

impl Dice {
    pub fn new(seed: u64) -> Self {
        let state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut dice = Self { state, extreme: false, faulty: 0 };
        dice.extreme = dice.one_in(3);
        dice.faulty = if dice.one_in(3) { 100 } else { 0 };
        dice
    }

    pub(super) fn roll(&mut self, sides: usize) -> usize {
        self.state = self.state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.state >> 33) as usize) % sides.max(1)
    }

    pub(super) fn one_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == 0
    }

    pub(super) fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.roll(all.len())].clone()
    }

    pub(super) fn wrong(&mut self) -> Value {
        let all = [json!(null), json!("1"), json!([]), json!({}), json!(true), json!(1e300), json!({ "__id__": 0 })];
        self.pick(&all)
    }

    /// A number of ordinary size, or of any size.
    pub(super) fn float(&mut self) -> f64 {
        const EXTREMES: [f64; 14] = [
            -0.0,
            1e-7,
            -1e-6,
            1e-30,
            5e-324,
            -1e-300,
            1e-45,
            1e10,
            -1e12,
            1e20,
            -1e30,
            3e38,
            16777217.0,
            0.3333333333333333,
        ];
        match self.roll(8) {
            0 => 0.0,
            1 => 1.0,
            2 => self.roll(20) as f64 - 10.0,
            3 if self.extreme => self.pick(&EXTREMES),
            _ => (self.roll(4001) as f64 - 2000.0) / 64.0 / (1 + self.roll(5)) as f64,
        }
    }

    pub(super) fn number(&mut self) -> Value {
        if self.faulty > 0 && self.one_in(self.faulty) { self.wrong() } else { json!(self.float()) }
    }

    /// An integer below a limit, or rarely another value.
    pub(super) fn index(&mut self, limit: usize) -> Value {
        if self.faulty > 0 && self.one_in(self.faulty) {
            return self.pick(&[json!(-1), json!(limit), json!(0.5), json!(1e15), json!(null), json!("0")]);
        }
        json!(self.roll(limit))
    }
}
