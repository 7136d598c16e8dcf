//! Characters that stop, stand for a while, and go on.

use posse::Ticks;
use posse::parameters::Parameter;
use posse::transitions::NewTransition;

use super::layers;
use super::output::Outcome;
use super::steered_crowd::SteeredCrowd;

/// The frames from one round of changes to the next.
const INTERVAL: usize = 30;
/// One character in this many stops, and one goes on, in a round.
const ONE_IN: usize = 100;
/// The rounds for which a character brakes.
const BRAKES: usize = 2;
/// The rounds for which it then stands.
const STANDS: usize = 8;

/// The number of transitions at the same time: each lasts for 1.6 s, and two per hundred characters begin in a round.
pub fn transitions(instances: usize) -> usize {
    8 * instances.div_ceil(ONE_IN)
}

impl SteeredCrowd {
    /// Lets some characters brake, some that have braked stand, and some that stood go on.
    pub fn change_stops(&mut self, frame: usize, now: Ticks) -> Outcome<()> {
        if !frame.is_multiple_of(INTERVAL) {
            return Ok(());
        }
        let round = frame / INTERVAL;
        let count = self.crowd.len();
        // The characters that began to brake this many rounds ago.
        let braked = |ago: usize| {
            round.checked_sub(ago).into_iter().flat_map(move |round| (round % ONE_IN..count).step_by(ONE_IN))
        };
        for instance in braked(0) {
            self.steering.set_stopped(&self.gpu.queue, instance, true);
        }
        if round < BRAKES {
            return Ok(());
        }
        // The poses that go out depend on the parameters, which only the GPU knows.
        let parameters = self.steering.read_parameters(&self.gpu)?;
        let stand = braked(BRAKES).map(|instance| (instance, true));
        let go_on = braked(BRAKES + STANDS).map(|instance| (instance, false));
        for (instance, stands) in stand.chain(go_on) {
            let own = &parameters[instance * layers::PARAMETERS..][..layers::PARAMETERS];
            let own: Result<Vec<_>, _> = own.iter().map(|&value| Parameter::constant(f64::from(value))).collect();
            self.crowd.set_parameters(instance, own?)?;
            let next = if stands { &self.layers.standing } else { &self.layers.moving };
            let new = NewTransition::new(instance, next, now);
            self.gpu_crowd.transition(&self.gpu_library, &self.library, &mut self.crowd, &new)?;
            self.steering.set_stopped(&self.gpu.queue, instance, stands);
            self.standing = if stands { self.standing + 1 } else { self.standing - 1 };
        }
        Ok(())
    }
}
