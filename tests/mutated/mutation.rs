use posse::Ticks;

/// A number of a scene, as the census finds it.
#[derive(Debug, Clone, Copy)]
pub struct Number {
    /// What the number is, for example `key time`.
    pub name: &'static str,
    /// The count of values that can replace it.
    pub values: usize,
}

/// The value that replaces a number, by indices.
#[derive(Debug, Clone, Copy)]
pub struct Change {
    /// The index of the number, in the order in which a scene is rebuilt.
    pub number: usize,
    /// The index of the value among the values that can replace the number.
    pub value: usize,
}

/// The changes of a scene. A scene is rebuilt number by number, and each passes through one of the methods here, which
/// returns it or the value that replaces it.
#[derive(Debug, Default)]
pub struct Mutation {
    changes: Vec<Change>,
    /// All numbers so far.
    numbers: Vec<Number>,
    /// The replaced numbers, for messages.
    made: Vec<String>,
}

impl Mutation {
    /// A mutation with some changes. Without any, it takes a census.
    pub fn new(changes: &[Change]) -> Self {
        Self { changes: changes.to_vec(), ..Self::default() }
    }

    /// The numbers of a scene after it was rebuilt.
    pub fn numbers(&self) -> &[Number] {
        &self.numbers
    }

    /// The changes that were made, as a text.
    pub fn made(&self) -> String {
        self.made.join(", ")
    }

    /// Returns `true` for one mutation in this many, by its first change.
    pub fn is_one_in(&self, mutations: usize) -> bool {
        self.changes.first().is_none_or(|change| (change.number + change.value).is_multiple_of(mutations))
    }

    /// A number with a fraction: a time, value, weight, coordinate.
    pub fn real(&mut self, name: &'static str, number: f64) -> f64 {
        self.replace(name, number, reals(number))
    }

    /// An index or a count.
    pub fn index(&mut self, name: &'static str, number: usize) -> usize {
        self.replace(name, number, indices(number))
    }

    /// A tick, or a number of ticks.
    pub fn ticks(&mut self, name: &'static str, number: Ticks) -> Ticks {
        Ticks(self.replace(name, number.0, ticks(number.0)))
    }

    /// One of several things.
    pub fn choice<T: Copy + std::fmt::Debug, const COUNT: usize>(
        &mut self,
        name: &'static str,
        own: T,
        all: [T; COUNT],
    ) -> T {
        self.replace(name, own, all)
    }

    /// Numbers with fractions.
    pub fn reals<const COUNT: usize>(&mut self, name: &'static str, numbers: [f64; COUNT]) -> [f64; COUNT] {
        numbers.map(|number| self.real(name, number))
    }

    /// The length of a list: cuts the list, or repeats its last item.
    pub fn length<T: Clone>(&mut self, name: &'static str, list: &mut Vec<T>) {
        let own = list.len();
        let length = self.replace(name, own, [0, own.saturating_sub(1), own + 1, 2 * own, own + 300]);
        match list.last().cloned() {
            Some(last) => list.resize(length, last),
            None => list.truncate(length),
        }
    }

    fn replace<T: Copy + std::fmt::Debug, const COUNT: usize>(
        &mut self,
        name: &'static str,
        own: T,
        others: [T; COUNT],
    ) -> T {
        let number = self.numbers.len();
        self.numbers.push(Number { name, values: COUNT });
        let Some(change) = self.changes.iter().find(|change| change.number == number) else { return own };
        let other = others[change.value % COUNT];
        self.made.push(format!("{name} (number {number}): {other:?} instead of {own:?}"));
        other
    }
}

/// Values beside a number, at the ends of the ranges of `f32` and `f64`, and beyond.
fn reals(own: f64) -> [f64; 38] {
    let most = f64::from(f32::MAX);
    [
        0.0,
        -0.0,
        f64::from_bits(1),
        f64::from(f32::from_bits(1)),
        f64::from(f32::MIN_POSITIVE),
        1.0,
        -1.0,
        0.5,
        -own,
        own.next_up(),
        own.next_down(),
        f64::from((own as f32).next_up()),
        own + 1e-7,
        0.5 * own,
        2.0 * own,
        1e3 * own,
        1e-30,
        1e-20,
        1e-12,
        1.0 - f64::from(f32::EPSILON),
        1e3,
        1e6,
        1e15,
        -1e15,
        1e30,
        16_777_216.0,
        2_147_483_648.0,
        4_294_967_296.0,
        2.0_f64.powi(63),
        2.0_f64.powi(64),
        most,
        -most,
        most.next_up(),
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ]
}

/// Indices beside a number, around sizes of blocks, and at the ends of the ranges of integers.
fn indices(own: usize) -> [usize; 24] {
    [
        0,
        1,
        own.wrapping_sub(1),
        own + 1,
        own + 2,
        2 * own,
        4,
        7,
        8,
        15,
        16,
        17,
        32,
        63,
        255,
        256,
        65_535,
        65_536,
        i32::MAX as usize,
        1 << 31,
        u32::MAX as usize,
        1 << 32,
        isize::MAX as usize,
        usize::MAX,
    ]
}

/// Ticks beside a number, and at the ends of the ranges of integers.
fn ticks(own: i64) -> [i64; 20] {
    [
        0,
        1,
        -1,
        -own,
        own + 1,
        own - 1,
        own + Ticks::PER_SECOND,
        own - Ticks::PER_SECOND,
        1 << 31,
        1 << 32,
        -(1 << 32),
        1 << 53,
        1 << 62,
        -(1 << 62),
        i64::MAX,
        i64::MAX - 1,
        i64::MIN,
        i64::MIN + 1,
        i64::MIN / 2,
        i64::MAX - Ticks::PER_SECOND,
    ]
}
