//! Frame times as tools print them: 1/30 as 0.033333, with as many digits as the tool has.
//!
//! Taken literally, 0.033333 lets a clip of an hour end 36 ms early, and frames asked for at 30 per second drift away
//! from the frames of the file. A frame time with the digits of 1/N, rounded or cut off, is therefore 1/N, for a
//! whole N or one of the rates of television, N * 1000/1001. With few digits several N agree; then it is the one that
//! people use, if it is the only one.

/// Frame rates in use, for a frame time of few digits.
const USUAL_RATES: [u32; 21] =
    [10, 12, 15, 20, 24, 25, 30, 40, 48, 50, 60, 72, 75, 80, 90, 100, 120, 144, 150, 200, 240];

/// The rates of television, times 1001/1000.
const TELEVISION_RATES: [u32; 5] = [24, 30, 48, 60, 120];

/// The largest rate that is looked for. Above, the digits of a frame time rarely tell two rates apart.
const MAX_RATE: f64 = 2000.0;

/// The smallest number of significant digits that can tell a usual rate.
const MIN_DIGITS: usize = 2;

/// The smallest number of significant digits that can tell any rate.
const MIN_DIGITS_OF_ANY_RATE: usize = 3;

/// The frame rate of a frame time in seconds; `None` for one that is 0, negative or too small.
pub(super) fn of_frame_time(seconds: f64) -> Option<f64> {
    Some(1.0 / seconds).filter(|fps| *fps > 0.0 && fps.is_finite())
}

/// The frame time that a tool has printed as `written`, whose value is `seconds`; `seconds` itself unless it is the
/// reciprocal of a rate.
pub(super) fn exact_frame_time(seconds: f64, written: &str) -> f64 {
    let Some((_, decimals)) = written.split_once('.') else { return seconds };
    let digits = decimals.trim_start_matches('0').len();
    if !decimals.bytes().all(|byte| byte.is_ascii_digit()) || seconds <= 0.0 || seconds >= 1.0 || digits < MIN_DIGITS {
        return seconds;
    }
    // The last digit may be rounded or cut off.
    let last = 0.1_f64.powi(decimals.len() as i32);
    let agrees = |time: f64| {
        let difference = time - seconds;
        (-0.5 * last..last).contains(&difference) || difference.abs() < 1e-12
    };
    // A number of few digits may be exact, such as 0.04 or 0.0125.
    let rate = (1.0 / seconds).round();
    if rate > MAX_RATE || (rate * seconds - 1.0).abs() < 1e-12 {
        return seconds;
    }
    let [slowest, fastest] = [seconds + last, seconds - 0.5 * last].map(|time| 1.0 / time);
    let whole = |rate: f64| 1.0 / rate;
    let mut agreeing = Vec::new();
    let mut rate = slowest.floor().max(1.0);
    while rate <= fastest.ceil().min(MAX_RATE) && agreeing.len() <= MAX_AGREEING {
        if agrees(whole(rate)) {
            agreeing.push(rate);
        }
        rate += 1.0;
    }
    let usual: Vec<f64> =
        agreeing.iter().copied().filter(|&rate| USUAL_RATES.iter().any(|&usual| f64::from(usual) == rate)).collect();
    match (&agreeing[..], &usual[..]) {
        (_, [rate]) => whole(*rate),
        ([rate], _) if digits >= MIN_DIGITS_OF_ANY_RATE => whole(*rate),
        ([], _) => {
            let television = TELEVISION_RATES.map(|rate| 1001.0 / (1000.0 * f64::from(rate)));
            television.into_iter().find(|&time| agrees(time)).unwrap_or(seconds)
        }
        _ => seconds,
    }
}

/// More rates than this are not told apart.
const MAX_AGREEING: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(written: &str) -> f64 {
        exact_frame_time(written.parse().unwrap(), written)
    }

    #[test]
    fn digits_of_a_reciprocal_are_the_reciprocal() {
        for (written, rate) in [
            ("0.033333", 30.0),
            ("0.0333333", 30.0),
            (".0333333", 30.0),
            ("0.0333", 30.0),
            ("0.033", 30.0),
            ("0.008333", 120.0),
            ("0.00833333", 120.0),
            ("0.0083333", 120.0),
            ("0.0083", 120.0),
            ("0.016667", 60.0),
            // Cut off.
            ("0.016666", 60.0),
            ("0.01666666", 60.0),
            ("0.017", 60.0),
            ("0.041667", 24.0),
            ("0.0041667", 240.0),
            ("0.006944", 144.0),
            ("0.033367", 30.0 / 1.001),
            ("0.0333667", 30.0 / 1.001),
            ("0.041708", 24.0 / 1.001),
            ("0.016683", 60.0 / 1.001),
            ("0.017857", 56.0),
        ] {
            assert!((read(written) * rate - 1.0).abs() < 1e-15, "{written}: {}", 1.0 / read(written));
        }
    }

    #[test]
    fn other_frame_times_are_themselves() {
        for written in [
            "0.04",
            "0.01",
            "0.0125",
            "0.03",
            "0.5",
            "1",
            "2.5",
            "0.05",
            "0.034",
            "0.013",
            "0.0335",
            "1e-3",
            "0.0341234",
            "0",
        ] {
            assert_eq!(read(written), written.parse::<f64>().unwrap(), "{written}");
        }
    }
}
