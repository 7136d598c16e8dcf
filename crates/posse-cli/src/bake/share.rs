//! Shares of the inputs, one per task.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::PathBuf;
use std::str::FromStr;

use posse::Error;

use crate::output::plural;

/// The variables in which schedulers give a task its index.
const VARIABLES: [&str; 4] =
    ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX", "CLOUD_RUN_TASK_INDEX"];

/// The value of `--shard`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShardChoice {
    /// The index of the scheduler.
    Auto,
    /// A share.
    Of(Share),
}

/// The value of `--plan`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanChoice {
    /// Writes a plan with a number of shares.
    Write(u32),
    /// Reads a plan.
    Read(PathBuf),
}

impl FromStr for PlanChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(Self::Read(text.into()));
        }
        match text.parse::<u32>() {
            Ok(count @ 1..=Share::MAX_COUNT) => Ok(Self::Write(count)),
            _ => Err(format!("expected 1 to {} shares; ./{text} is a file", Share::MAX_COUNT)),
        }
    }
}

/// One of several shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Its index, from 0.
    pub index: u32,
    /// The number of shares, at least 1.
    pub count: u32,
}

impl FromStr for ShardChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let expected = "expected I/N, for example 0/8, or auto";
        let (index, count) = text.split_once('/').ok_or(expected)?;
        let number = |text: &str| text.parse::<u32>().map_err(|_| expected);
        let share = Share { index: number(index)?, count: number(count)? };
        if share.count == 0 || share.count > Share::MAX_COUNT {
            return Err(format!("there are {} shares; expected 1 to {}", share.count, Share::MAX_COUNT));
        }
        if share.index >= share.count {
            return Err(format!("there is no share {} of {}: shares are counted from 0", share.index, share.count));
        }
        Ok(Self::Of(share))
    }
}

impl Share {
    /// The largest number of shares.
    pub const MAX_COUNT: u32 = 100_000;

    /// The share of the options `--shard` and `--shards`; `None` without them. `planned` is the number of shares of a
    /// plan.
    pub fn new(choice: Option<ShardChoice>, count: Option<u32>, planned: Option<u32>) -> Result<Option<Self>, Error> {
        let wanted = match choice {
            Some(ShardChoice::Of(share)) => Some(share.count),
            _ => count,
        };
        if let (Some(planned), Some(wanted)) = (planned, wanted)
            && planned != wanted
        {
            return Err(Error::Usage(format!(
                "the plan has {}, not {wanted}; give this number, or make another plan",
                plural(planned as usize, "share")
            )));
        }
        match (choice, count) {
            (None, None) => Ok(None),
            (Some(ShardChoice::Of(share)), None) => Ok(Some(share)),
            (Some(ShardChoice::Auto), _) => match count.or(planned) {
                Some(count) => Self::of_task(count).map(Some),
                None => Err(Error::Usage(
                    "--shard auto needs --shards N: a scheduler's own count changes when some tasks are submitted again"
                        .into(),
                )),
            },
            (Some(ShardChoice::Of(_)), Some(_)) => {
                Err(Error::Usage("--shard I/N has the number of shares already; leave out --shards".into()))
            }
            (None, Some(_)) => Err(Error::Usage("--shards is for --shard auto; give both, or --shard I/N".into())),
        }
    }

    /// The share of this task, by the variables of schedulers.
    fn of_task(count: u32) -> Result<Self, Error> {
        let set = VARIABLES.into_iter().filter_map(|name| Some((name, std::env::var(name).ok()?)));
        let set: Vec<(&str, String)> = set.filter(|(_, value)| !value.is_empty()).collect();
        let [(name, value), rest @ ..] = set.as_slice() else {
            let names = VARIABLES.join(", ");
            return Err(Error::Usage(format!("--shard auto: none of {names} is set; give --shard I/N")));
        };
        if let Some((other, different)) = rest.iter().find(|(_, other)| other != value) {
            return Err(Error::Usage(format!(
                "--shard auto: {name} is {value}, but {other} is {different}; give --shard I/N"
            )));
        }
        match value.parse::<u32>() {
            Ok(index) if index < count => Ok(Self { index, count }),
            Ok(index) => Err(Error::Usage(format!(
                "--shard auto: {name} is {index}, but the {count} shares are counted from 0; begin the array at 0"
            ))),
            Err(_) => Err(Error::Usage(format!("--shard auto: {name} is {value:?}; expected a whole number"))),
        }
    }

    /// The share of each file of a list, of a number of shares. `sizes` has the bytes of the files.
    ///
    /// The largest file goes first, to the share with the fewest bytes so far.
    pub fn deal(count: u32, sizes: &[u64]) -> Vec<u32> {
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        // The list is in the order of the paths, which a stable sort keeps for files of one size.
        order.sort_by_key(|&file| Reverse(sizes[file]));
        let mut shares: BinaryHeap<Reverse<(u64, u32)>> = (0..count).map(|share| Reverse((0, share))).collect();
        let mut dealt = vec![0; sizes.len()];
        for file in order {
            let Some(Reverse((bytes, share))) = shares.pop() else { break };
            dealt[file] = share;
            shares.push(Reverse((bytes.saturating_add(sizes[file]), share)));
        }
        dealt
    }
}
