//! Shares of the inputs, one per task.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::str::FromStr;

use posse::Error;

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

    /// The share of the options `--shard` and `--shards`; `None` without them.
    pub fn new(choice: Option<ShardChoice>, count: Option<u32>) -> Result<Option<Self>, Error> {
        match (choice, count) {
            (None, None) => Ok(None),
            (Some(ShardChoice::Of(share)), None) => Ok(Some(share)),
            (Some(ShardChoice::Auto), Some(count)) => Self::of_task(count).map(Some),
            (Some(ShardChoice::Auto), None) => Err(Error::Usage(
                "--shard auto needs --shards N: a scheduler's own count changes when some tasks are submitted again"
                    .into(),
            )),
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
                "--shard auto: {name} is {index}, but there are {count} shares, counted from 0; begin the array at 0"
            ))),
            Err(_) => Err(Error::Usage(format!("--shard auto: {name} is {value:?}; expected a whole number"))),
        }
    }

    /// The indices of the files of this share, in the order of the list. `sizes` has the bytes of all files.
    ///
    /// The largest file goes first, to the share with the fewest bytes so far.
    pub fn deal(self, sizes: &[u64]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        // The list is in the order of the paths, which a stable sort keeps for files of one size.
        order.sort_by_key(|&file| Reverse(sizes[file]));
        let mut shares: BinaryHeap<Reverse<(u64, u32)>> = (0..self.count).map(|share| Reverse((0, share))).collect();
        let mut own = Vec::new();
        for file in order {
            let Some(Reverse((bytes, share))) = shares.pop() else { break };
            if share == self.index {
                own.push(file);
            }
            shares.push(Reverse((bytes.saturating_add(sizes[file]), share)));
        }
        own.sort_unstable();
        own
    }
}
