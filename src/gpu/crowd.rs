//! A crowd on the GPU, with the buffers of its poses.

use crate::error::Error;
use crate::gpu::allocation::write;
use crate::gpu::batch_builder::{BatchBuilder, SharedParts};
use crate::gpu::frame_uploads::FrameBuffer;
use crate::gpu::transitions::TransitionCapacity;
use crate::gpu::visible::VisibleList;
use crate::gpu::{DeviceAndQueue, GpuBatch, GpuLibrary, Scopes, check_device};
use crate::kernels::Pass;
use crate::model::{Crowd, Goal, Layer, Library, Outputs, ParameterValues, Step, Ticks};
use crate::pack::record::{DriveRecord, Frame, LayerRecord};
use crate::pack::{
    CrowdOptions, PackedCrowd, PackedDisplacement, check_changed_crowd, check_index, pack_drivers, pack_instance,
    parameter_count,
};
use crate::refusal::Refusal;
use crate::transition::NewTransition;

/// A crowd in GPU buffers, with capacity for its poses.
///
/// A crowd that only plays needs one call per frame: [`encode`](Self::encode).
///
/// The [module](crate::gpu) describes what else a frame can do, and the [crate](crate#crowds-that-change) how crowds
/// change: by [`set_layers`](Self::set_layers), [`set_instance`](Self::set_instance),
/// [`set_instances`](Self::set_instances), [`set_goals`](Self::set_goals) and [`transition`](Self::transition), within
/// the capacity that is fixed when the crowd is made.
///
/// # Examples
/// ```
/// use posse::gpu::{AdapterKind, GpuContext, GpuCrowd, GpuLibrary};
/// use posse::{Outputs, Ticks, demo};
///
/// # fn main() -> Result<(), posse::Error> {
/// let gpu = GpuContext::new(AdapterKind::Any)?;
/// let library = demo::library()?;
/// let crowd = demo::crowd(&library, 100)?;
/// let library = GpuLibrary::new(&gpu, &library)?;
/// let crowd = GpuCrowd::new(&library, &crowd, Outputs::SKIN)?;
///
/// let mut encoder = gpu.device.create_command_encoder(&Default::default());
/// crowd.encode(&mut encoder, Ticks(0));
/// gpu.queue.submit([encoder.finish()]);
///
/// // A vertex shader reads the buffer: 48 bytes per joint.
/// let batch = &crowd.batches()[0];
/// assert_eq!(batch.skin().unwrap().size(), 48 * 64 * batch.instances().len() as u64);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct GpuCrowd {
    batches: Vec<GpuBatch>,
    frame: FrameBuffer,
    /// The location of each instance of the crowd.
    locations: Vec<Location>,
    outputs: Outputs,
    options: CrowdOptions,
    /// The capacity for parameters per instance.
    parameter_count: usize,
}

/// How a recorded frame is measured.
enum FrameClock<'a> {
    /// One compute pass, with timestamps around it if wanted.
    Whole(Option<wgpu::ComputePassTimestampWrites<'a>>),
    /// A compute pass per kind of kernel, each with timestamps if wanted.
    Passes(&'a (dyn Fn(usize) -> Option<wgpu::ComputePassTimestampWrites<'a>> + 'a)),
}

/// The location of an instance: the index of its batch, and its slot in the batch.
#[derive(Debug, Clone, Copy, Default)]
struct Location {
    batch: u32,
    slot: u32,
}

impl GpuCrowd {
    /// Uploads a crowd of the library's skeletons and clips, and allocates its poses. Nothing is submitted, but for a
    /// test of the device before the first half matrices of a library, for which the call waits.
    ///
    /// # Errors
    /// * [`Error::Instance`] if the crowd does not fit the library.
    /// * [`Error::Skeleton`], [`Error::Skin`] or [`Error::Track`] if dual quaternions are requested and a scale that
    ///   the crowd uses is not uniform.
    /// * [`Error::Limit`] if the outputs of one instance are larger than the device allows.
    /// * [`Error::Shader`] if the device refuses a kernel.
    /// * [`Error::Device`] if the device is lost or its memory does not suffice.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new(library: &GpuLibrary, crowd: &Crowd, outputs: Outputs) -> Result<Self, Error> {
        pollster::block_on(Self::new_async(library, crowd, outputs))
    }

    /// As `new`, for a browser.
    ///
    /// # Errors
    /// The errors of `new`.
    pub async fn new_async(library: &GpuLibrary, crowd: &Crowd, outputs: Outputs) -> Result<Self, Error> {
        Self::with_options_async(library, crowd, outputs, CrowdOptions::default()).await
    }

    /// As `new`, with options.
    ///
    /// # Errors
    /// The errors of `new`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn with_options(
        library: &GpuLibrary,
        crowd: &Crowd,
        outputs: Outputs,
        options: CrowdOptions,
    ) -> Result<Self, Error> {
        pollster::block_on(Self::with_options_async(library, crowd, outputs, options))
    }

    /// As `with_options`, for a browser.
    ///
    /// # Errors
    /// The errors of `new`.
    pub async fn with_options_async(
        library: &GpuLibrary,
        crowd: &Crowd,
        outputs: Outputs,
        options: CrowdOptions,
    ) -> Result<Self, Error> {
        let packed = PackedCrowd::with_capacity(&library.packed, crowd, options.capacity())?;
        library.packed.check_outputs(crowd, outputs)?;
        let parameter_count = parameter_count(crowd, &options);
        let mut shared = Vec::with_capacity(packed.batches.len());
        for batch in &packed.batches {
            shared.push(SharedParts::new(library, batch, outputs, options, parameter_count).await?);
        }
        let gpu = library.gpu();
        let scopes = Scopes::push(gpu.device);
        let frame = FrameBuffer::new(gpu);
        let values: Vec<ParameterValues> =
            (0..crowd.len()).map(|instance| crowd.parameter_values(instance, Ticks(0))).collect();
        let frame_buffer = frame.buffer();
        let builder =
            BatchBuilder { library, crowd: &packed, values: &values, parameter_count, frame: frame_buffer, options };
        let batches: Result<Vec<_>, Error> = shared.iter().map(|shared| builder.build(shared)).collect();
        scopes.pop().await?;
        check_device(gpu.device).await?;
        let batches: Vec<GpuBatch> = batches?.into_iter().flatten().collect();
        let mut locations = vec![Location::default(); packed.len()];
        for (index, batch) in batches.iter().enumerate() {
            for (slot, &instance) in batch.instances().iter().enumerate() {
                locations[instance] = Location { batch: index as u32, slot: slot as u32 };
            }
        }
        Ok(Self { batches, frame, locations, outputs, options, parameter_count })
    }

    /// Frees the memory of the crowd, after all submitted work. A browser frees the buffers of a dropped crowd only
    /// when it collects garbage. A later submission with the crowd, or with a [`GpuEvents`](crate::gpu::GpuEvents) of
    /// it, fails.
    pub fn destroy(&self) {
        self.batches.iter().for_each(GpuBatch::destroy);
        self.frame.destroy();
    }

    /// Replaces the layers of all instances, before the next submission. Other clips, weights or times need no new
    /// crowd.
    ///
    /// Each instance has capacity for the mixing that it needed when this crowd was made, or for the mixing of
    /// [`CrowdOptions::mixing`]; and for as many layers as any instance of its skeleton with that mixing had, or as
    /// [`CrowdOptions::layers`]. If the layers of any instance do not fit, nothing is replaced, and [`Error::Refused`]
    /// names the reason. Transitions and goals are replaced by the transitions and goals of the given crowd; parameters
    /// stay as they are.
    ///
    /// # Errors
    /// [`Error::Instance`] if the crowd does not fit the library, and the errors of dual quaternions as in `new`.
    /// [`Error::Device`] if there is no memory for the upload: a part of the layers may have been replaced, and the
    /// call can be repeated.
    pub fn set_layers(&self, library: &GpuLibrary, crowd: &Crowd) -> Result<(), Error> {
        let capacity_of = |instance| self.find(instance).0.capacity();
        check_changed_crowd(&library.packed, crowd, self.outputs, self.locations.len(), capacity_of)?;
        for batch in &self.batches {
            let mut moving = batch.instances().iter().filter(|&&instance| crowd.start_poses(instance).is_some());
            let capacity = batch.transitions.as_ref().map_or(0, TransitionCapacity::count);
            if let Some(&instance) = moving.nth(capacity) {
                return Err(Error::Refused(Refusal::MoreTransitions { instance, capacity }));
            }
        }
        for batch in &self.batches {
            if let Some(transitions) = &batch.transitions {
                transitions.end(self.gpu(), 0..batch.instances().len())?;
            }
            self.write_layers(library, crowd, batch)?;
        }
        Ok(())
    }

    /// Writes the layers and transitions of all instances of a batch. They fit.
    fn write_layers(&self, library: &GpuLibrary, crowd: &Crowd, batch: &GpuBatch) -> Result<(), Error> {
        let capacity = batch.layer_count as usize;
        let (mut records, mut drives) = (Vec::new(), Vec::new());
        for &instance in batch.instances() {
            let layers = crowd.layers(instance);
            pack_instance(&library.packed, batch.skeleton(), layers, capacity, &mut records);
            if batch.drivers.is_some() {
                pack_drivers(&library.packed, layers, capacity, &mut drives);
            }
        }
        write(self.gpu(), &batch.layers, 0, bytemuck::cast_slice(&records))?;
        if let Some((drivers, _)) = &batch.drivers {
            write(self.gpu(), &drivers.drives, 0, bytemuck::cast_slice(&drives))?;
        }
        if let Some(goals) = &batch.goals {
            goals.write(library, 0, batch.instances().iter().map(|&instance| crowd.goals(instance)))?;
        }
        for (slot, &instance) in batch.instances().iter().enumerate() {
            self.begin_displacement(crowd, instance, (batch, slot), Ticks(i64::MIN))?;
        }
        Ok(())
    }

    /// Uploads the displacement of an instance, if the crowd has one and there is capacity.
    fn begin_displacement(
        &self,
        crowd: &Crowd,
        instance: usize,
        place: (&GpuBatch, usize),
        now: Ticks,
    ) -> Result<(), Error> {
        let (batch, slot) = place;
        if let (Some(transitions), Some((transition, start))) = (&batch.transitions, crowd.start_poses(instance)) {
            transitions.begin(self.gpu(), slot, &PackedDisplacement::new(transition, start), now)?;
        }
        Ok(())
    }

    /// Replaces the layers of one instance, before the next submission; the others play on. It uploads the layer
    /// records of the instance: 120 bytes per layer that it has capacity for, and 100 more with capacity for drivers.
    /// The capacity is the capacity of [`set_layers`](Self::set_layers). A transition of the instance ends; its goals
    /// stay.
    ///
    /// # Errors
    /// * [`Error::Instance`] if the crowd has no such instance, its layers do not fit the library, or a number in them
    ///   is not usable.
    /// * [`Error::Limit`] if it has more layers than [`Crowd::push`] allows.
    /// * The errors of dual quaternions as in `new`.
    /// * [`Error::Device`] if there is no memory for the upload; the call can be repeated.
    pub fn set_instance(&self, library: &GpuLibrary, instance: usize, layers: &[Layer]) -> Result<(), Error> {
        self.set_instances(library, &[(instance, layers)])
    }

    /// As [`set_instance`](Self::set_instance), for several instances, each with its layers. Records of instances in
    /// neighbouring slots are uploaded together. Of several entries for an instance, the last counts. If the layers of
    /// any do not fit, nothing is replaced.
    ///
    /// # Errors
    /// The errors of [`set_instance`](Self::set_instance).
    pub fn set_instances(&self, library: &GpuLibrary, instances: &[(usize, &[Layer])]) -> Result<(), Error> {
        for &(instance, layers) in instances {
            self.check_layers(library, instance, layers)?;
        }
        let place = |&(instance, _): &(usize, &[Layer])| {
            let Location { batch, slot } = self.locations[instance];
            (batch, slot)
        };
        let mut sorted = instances.to_vec();
        // Stable, so that the last entry of an instance is written last.
        sorted.sort_by_key(place);
        let are_neighbours = |one: &(usize, &[Layer]), next: &(usize, &[Layer])| {
            let ((batch, slot), (next_batch, next_slot)) = (place(one), place(next));
            batch == next_batch && slot + 1 == next_slot
        };
        for run in sorted.chunk_by(are_neighbours) {
            self.write_instances(library, run, true)?;
        }
        Ok(())
    }

    /// Checks that new layers for an instance fit.
    fn check_layers(&self, library: &GpuLibrary, instance: usize, layers: &[Layer]) -> Result<(), Error> {
        self.check_index(instance)?;
        self.find(instance).0.capacity().check_layers(&library.packed, self.outputs, instance, layers)
    }

    /// Checks that there is an instance.
    fn check_index(&self, instance: usize) -> Result<(), Error> {
        check_index(instance, self.locations.len())
    }

    /// Writes the layers of instances in neighbouring slots of a batch, which fit, and ends their transitions if asked.
    fn write_instances(
        &self,
        library: &GpuLibrary,
        instances: &[(usize, &[Layer])],
        ends_transitions: bool,
    ) -> Result<(), Error> {
        let Some(&(first, _)) = instances.first() else { return Ok(()) };
        let (batch, slot) = self.find(first);
        if let Some(transitions) = batch.transitions.as_ref().filter(|_| ends_transitions) {
            transitions.end(self.gpu(), slot..slot + instances.len())?;
        }
        let capacity = batch.layer_count as usize;
        let mut records = Vec::with_capacity(capacity * instances.len());
        for (_, layers) in instances {
            pack_instance(&library.packed, batch.skeleton(), layers, capacity, &mut records);
        }
        let offset = slot * capacity * size_of::<LayerRecord>();
        write(self.gpu(), &batch.layers, offset as u64, bytemuck::cast_slice(&records))?;
        if let Some((drivers, _)) = &batch.drivers {
            let mut drives = Vec::with_capacity(capacity * instances.len());
            for (_, layers) in instances {
                pack_drivers(&library.packed, layers, capacity, &mut drives);
            }
            let offset = slot * capacity * size_of::<DriveRecord>();
            write(self.gpu(), &drivers.drives, offset as u64, bytemuck::cast_slice(&drives))?;
        }
        Ok(())
    }

    /// Replaces the goals of one instance, before the next submission. It uploads 24 bytes per goal that the instance
    /// has capacity for. Targets and weights that follow parameters move without it, by
    /// [`set_parameters`](Self::set_parameters).
    ///
    /// The capacity is for as many goals as any instance of the batch began with, or for [`CrowdOptions::goals`]. If
    /// the goals do not fit, nothing is replaced, and [`Error::Refused`] names the reason.
    ///
    /// # Errors
    /// * [`Error::Instance`] if the crowd has no such instance, a chain does not exist or is for another skeleton, or a
    ///   number in the goals is not usable.
    /// * [`Error::Limit`] if there are more goals than [`Crowd::set_goals`] allows.
    /// * [`Error::Device`] if there is no memory for the upload.
    pub fn set_goals(&self, library: &GpuLibrary, instance: usize, goals: &[Goal]) -> Result<(), Error> {
        self.check_index(instance)?;
        let (batch, slot) = self.find(instance);
        batch.capacity().check_goals(&library.packed, instance, goals)?;
        if let Some(of_batch) = &batch.goals {
            of_batch.write(library, slot, std::iter::once(goals))?;
        }
        Ok(())
    }

    /// Begins a transition of an instance to other layers, from the pose that it shows, before the next submission. A
    /// transition on its way is interrupted.
    ///
    /// `crowd` describes the instances as they are on the GPU; the instance gets the layers and the transition there,
    /// too ([`Crowd::begin_transition`]), in `f64` by two queries. They are uploaded once; while the transition is on
    /// its way, frames upload nothing. If a kernel writes the parameters of the instance, give `crowd` their present
    /// values first: with others, the pose that goes out is another one. If the layers or the transition do not fit,
    /// nothing is changed, and [`Error::Refused`] names the reason.
    ///
    /// # Errors
    /// The errors of [`set_instance`](Self::set_instance) and of [`Crowd::begin_transition`]. Without memory for the
    /// upload, `crowd` has the transition already: bring the GPU to its state by [`set_layers`](Self::set_layers).
    ///
    /// # Examples
    /// ```
    /// use posse::gpu::{AdapterKind, GpuContext, GpuCrowd, GpuLibrary};
    /// use posse::transitions::NewTransition;
    /// use posse::{Crowd, CrowdOptions, Layer, LayerTime, Outputs, Playback, Ticks, demo};
    ///
    /// # fn main() -> Result<(), posse::Error> {
    /// let library = demo::library()?;
    /// let [walk, wave] = ["walk", "wave"].map(|name| library.find_clip(name).expect("a clip of the demo"));
    /// let playing = |clip| Layer::new(clip, LayerTime::Playing(Playback::looping(0.0, 1.0)));
    /// let mut crowd = Crowd::new();
    /// for _ in 0..100 {
    ///     crowd.push(library.clip(walk).skeleton, &[playing(walk)])?;
    /// }
    /// let gpu = GpuContext::new(AdapterKind::Any)?;
    /// let on_gpu = GpuLibrary::new(&gpu, &library)?;
    /// let options = CrowdOptions { transitions: 10, ..CrowdOptions::NONE };
    /// let gpu_crowd = GpuCrowd::with_options(&on_gpu, &crowd, Outputs::SKIN, options)?;
    ///
    /// let layers = [playing(wave)];
    /// let new = NewTransition::new(7, &layers, Ticks::from_seconds(2.0));
    /// gpu_crowd.transition(&on_gpu, &library, &mut crowd, &new)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn transition(
        &self,
        on_gpu: &GpuLibrary,
        library: &Library,
        crowd: &mut Crowd,
        new: &NewTransition,
    ) -> Result<(), Error> {
        self.transitions(on_gpu, library, crowd, std::slice::from_ref(new))
    }

    /// As [`transition`](Self::transition), for several instances. If the layers or the transition of any do not fit,
    /// nothing is changed. Of several transitions of an instance, the last counts.
    ///
    /// # Errors
    /// The errors of [`transition`](Self::transition).
    pub fn transitions(
        &self,
        on_gpu: &GpuLibrary,
        library: &Library,
        crowd: &mut Crowd,
        all: &[NewTransition],
    ) -> Result<(), Error> {
        for &NewTransition { instance, layers, .. } in all {
            self.check_layers(on_gpu, instance, layers)?;
            if crowd.len() != self.locations.len() || crowd.skeleton(instance) != self.find(instance).0.skeleton() {
                return Err(Error::Refused(Refusal::OtherInstances));
            }
        }
        for (number, batch) in self.batches.iter().enumerate() {
            let own = all.iter().filter(|new| self.locations[new.instance].batch as usize == number);
            let transitions = batch.transitions.as_ref();
            let slots = own.clone().map(|new| (self.find(new.instance).1, new.now));
            let fitting = transitions.map_or(0, |transitions| transitions.places_for(slots));
            if let Some(&NewTransition { instance, .. }) = own.clone().nth(fitting) {
                let capacity = transitions.map_or(0, TransitionCapacity::count);
                return Err(Error::Refused(Refusal::MoreTransitions { instance, capacity }));
            }
        }
        crowd.begin_transitions(library, all)?;
        for &NewTransition { instance, layers, now, .. } in all {
            self.write_instances(on_gpu, &[(instance, layers)], false)?;
            self.begin_displacement(crowd, instance, self.find(instance), now)?;
        }
        Ok(())
    }

    /// The capacity for parameters per instance. Batches in which neither layers nor goals follow parameters have none
    /// ([`GpuBatch::parameter_count`]).
    pub fn parameter_count(&self) -> usize {
        self.parameter_count
    }

    /// Replaces the first parameters of one instance, before the next submission. Layers and goals refer to them by
    /// index. Without any that follow parameters, nothing is uploaded. If there are more than there is capacity for,
    /// nothing is replaced, and [`Error::Refused`] says so.
    ///
    /// # Errors
    /// [`Error::Instance`] if the crowd has no such instance; [`Error::Device`] if there is no memory for the upload.
    pub fn set_parameters(&self, instance: usize, values: &[f32]) -> Result<(), Error> {
        self.check_index(instance)?;
        let (needed, capacity) = (values.len(), self.parameter_count);
        if needed > capacity {
            return Err(Error::Refused(Refusal::MoreParameters { instance, needed, capacity }));
        }
        let (batch, slot) = self.find(instance);
        if let Some(buffer) = batch.parameters() {
            write(self.gpu(), buffer, 4 * (slot * capacity) as u64, bytemuck::cast_slice(values))?;
        }
        Ok(())
    }

    /// Replaces the parameters of all instances, before the next submission: [`parameter_count`](Self::parameter_count)
    /// numbers per instance, in the order of the crowd.
    ///
    /// # Errors
    /// [`Error::Usage`] for another number of values; [`Error::Device`] if there is no memory for the upload.
    pub fn set_all_parameters(&self, values: &[f32]) -> Result<(), Error> {
        let (count, instances) = (self.parameter_count, self.locations.len());
        if values.len() != count * instances {
            let found = values.len();
            let reason = format!("{found} values of parameters; expected {count} for each of {instances} instances");
            return Err(Error::Usage(reason));
        }
        for batch in &self.batches {
            if let Some(buffer) = batch.parameters() {
                let of_instance = |&instance: &usize| &values[count * instance..][..count];
                let numbers: Vec<f32> = batch.instances().iter().flat_map(of_instance).copied().collect();
                write(self.gpu(), buffer, 0, bytemuck::cast_slice(&numbers))?;
            }
        }
        Ok(())
    }

    /// Sets the parameters to the values of a crowd at the end of a step, and the parameters of the previous frame to
    /// its beginning.
    ///
    /// # Errors
    /// [`Error::Device`] if there is no memory for the upload.
    pub(super) fn set_step_parameters(&self, crowd: &Crowd, step: Step) -> Result<(), Error> {
        for (parameters, batch) in self.batches.iter().filter_map(|batch| Some((batch.parameters.as_ref()?, batch))) {
            for (buffer, now) in [(parameters.now(), step.to), (parameters.before(), step.from)] {
                let Some(buffer) = buffer else { continue };
                let of_instance = |&instance: &usize| {
                    let values = crowd.parameter_values(instance, now).0;
                    values.into_iter().take(parameters.count)
                };
                let numbers: Vec<f32> = batch.instances().iter().flat_map(of_instance).collect();
                write(self.gpu(), buffer, 0, bytemuck::cast_slice(&numbers))?;
            }
        }
        Ok(())
    }

    /// Records the poses of all instances at a tick of the crowd clock, or at the end of a step.
    ///
    /// It only records: it does not submit or wait. The queue uploads the 32 bytes of a [`Frame`] with the next
    /// submission. Two frames in one submission do not disturb each other, and frames may be submitted in any order, or
    /// never.
    ///
    /// Without memory for the upload, the device refuses the frame when the encoder is finished or submitted, and
    /// reports it to the error scope or the handler of the caller. The next frame tries again.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder, step: impl Into<Step>) {
        self.encode_timed(encoder, step, None);
    }

    /// As [`encode`](Self::encode), and writes the start and end times of the pass to a query set.
    pub fn encode_timed(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        step: impl Into<Step>,
        timestamp_writes: Option<wgpu::ComputePassTimestampWrites>,
    ) {
        self.record(encoder, Frame::new(step.into()), FrameClock::Whole(timestamp_writes));
    }

    /// As [`encode`](Self::encode), with a compute pass of its own for each of [`passes`](Self::passes), to measure
    /// them. `writes` returns the query set for the times of a pass by its index in that list.
    pub fn encode_each_pass<'a>(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        step: impl Into<Step>,
        writes: &'a dyn Fn(usize) -> Option<wgpu::ComputePassTimestampWrites<'a>>,
    ) {
        self.record(encoder, Frame::new(step.into()), FrameClock::Passes(writes));
    }

    /// The passes of a frame that poses all instances, in order.
    pub fn passes(&self) -> Vec<Pass> {
        Pass::ALL.into_iter().filter(|&pass| self.has(pass)).collect()
    }

    /// True for a pass of a frame that poses all instances.
    fn has(&self, pass: Pass) -> bool {
        pass == Pass::Pose || self.batches.iter().any(|batch| batch.side_pass(pass).is_some())
    }

    /// As [`encode`](Self::encode), but only for the instances that are listed in [`GpuBatch::visible`] and due. The
    /// slots of the others keep their contents in the outputs.
    ///
    /// The list is read on the GPU, when the recorded commands run. A listed instance is due if its slot plus
    /// `frame_number` is a multiple of the entry's update interval; `frame_number` counts frames and wraps. An instance
    /// that is listed several times is posed once, by the due entry with the most joints. A crowd without lists poses
    /// all instances.
    pub fn encode_visible(&self, encoder: &mut wgpu::CommandEncoder, step: impl Into<Step>, frame_number: u32) {
        let step = step.into();
        let frame = if self.options.visible { Frame::visible(step, frame_number) } else { Frame::new(step) };
        self.record(encoder, frame, FrameClock::Whole(None));
    }

    fn record(&self, encoder: &mut wgpu::CommandEncoder, frame: Frame, clock: FrameClock) {
        self.frame.write(encoder, &frame);
        let step = frame.step();
        let cut = step.from == step.to;
        if !cut {
            self.keep_skins(encoder);
        }
        let visible_only = frame.visible_only == 1;
        let batches = if visible_only { &self.batches[..] } else { &[] };
        let lists: Vec<&VisibleList> = batches.iter().filter_map(|batch| batch.visible.as_ref()).collect();
        for list in &lists {
            list.clear(encoder);
        }
        match clock {
            FrameClock::Whole(timestamp_writes) => {
                let label = Some("posse pose");
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label, timestamp_writes });
                for list in &lists {
                    list.collect(&mut pass);
                }
                for kind in Pass::ALL {
                    self.record_pass(kind, &mut pass, visible_only);
                }
            }
            FrameClock::Passes(writes) => {
                for (index, kind) in self.passes().into_iter().enumerate() {
                    let timestamp_writes = writes(index);
                    let label = Some(kind.entry_point());
                    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label, timestamp_writes });
                    self.record_pass(kind, &mut pass, visible_only);
                }
            }
        }
        for parameters in self.batches.iter().filter_map(|batch| batch.parameters.as_ref()) {
            parameters.keep(encoder);
        }
        if cut {
            self.keep_skins(encoder);
        }
    }

    /// Records the kernels of a pass, of all batches.
    fn record_pass(&self, kind: Pass, pass: &mut wgpu::ComputePass, visible_only: bool) {
        if kind != Pass::Pose {
            self.batches.iter().filter_map(|batch| batch.side_pass(kind)).for_each(|side| side.record(pass));
            return;
        }
        // One barrier for all batches: if each had its own, none would begin before the one before it has ended.
        let prepared = self.batches.iter().flat_map(GpuBatch::prepared);
        let transition = |buffer| wgpu::BufferTransition { buffer, state: wgpu::BufferUses::STORAGE_READ_ONLY };
        pass.transition_resources(prepared.map(transition), std::iter::empty());
        for batch in &self.batches {
            batch.pose(pass, visible_only);
        }
    }

    /// Records a copy of the present skin matrices to the previous ones.
    fn keep_skins(&self, encoder: &mut wgpu::CommandEncoder) {
        for batch in &self.batches {
            if let (Some(skin), Some(previous)) = (batch.skin(), batch.previous_skin()) {
                encoder.copy_buffer_to_buffer(skin, 0, previous, 0, skin.size());
            }
        }
    }

    /// Fails if there was no memory for a frame that was recorded since the last call.
    ///
    /// # Errors
    /// [`Error::Device`] if the device is out of memory.
    pub(crate) fn check_frames(&self) -> Result<(), Error> {
        self.frame.check()
    }

    /// The device and the queue of the crowd.
    pub(super) fn gpu(&self) -> DeviceAndQueue<'_> {
        self.frame.gpu()
    }

    /// The batches, skeleton after skeleton, the least mixing first.
    pub fn batches(&self) -> &[GpuBatch] {
        &self.batches
    }

    /// The batch of an instance, and its slot in the buffers of the batch.
    ///
    /// # Panics
    /// If the crowd has no such instance.
    pub fn find(&self, instance: usize) -> (&GpuBatch, usize) {
        let Location { batch, slot } = self.locations[instance];
        (&self.batches[batch as usize], slot as usize)
    }
}
