//! Arrays in huge pages of memory.
//!
//! The TLB of a core holds some thousand addresses of pages. Keys that instances read at random times lie in more pages
//! of 4 KiB than that, and each miss costs a walk of the page table. Huge pages of 2 MiB cause fewer misses.
//!
//! On Linux, arrays of 4 MiB and more have a mapping of their own with the advice to use huge pages; `memmap2` gives it
//! without `unsafe` code here. Outputs of that size have one, too. `docs/decisions/huge-pages.md` has the numbers.

use std::fmt::{self, Debug, Formatter};
use std::ops::{Deref, DerefMut};

use bytemuck::Pod;

// Miri does not know the advice.
#[cfg(all(target_os = "linux", not(miri)))]
use huge_pages::HugePages;

/// An array that grows as a list, until [`append_zeros`](Self::append_zeros) or [`finish`](Self::finish) moves it to
/// huge pages. If it is cloned, or grows after that by other functions, it is a list again.
pub struct LargeArray<T> {
    list: Vec<T>,
    /// If set, the elements are here, and the list is empty.
    #[cfg(all(target_os = "linux", not(miri)))]
    pages: Option<HugePages<T>>,
}

impl<T: Pod> LargeArray<T> {
    /// Appends an element.
    pub fn push(&mut self, element: T) {
        self.list_mut().push(element);
    }

    /// Appends elements from a slice.
    pub fn extend_from_slice(&mut self, elements: &[T]) {
        self.list_mut().extend_from_slice(elements);
    }

    /// Appends copies of an element up to a length, or drops the elements beyond it.
    pub fn resize(&mut self, length: usize, element: T) {
        self.list_mut().resize(length, element);
    }

    /// Appends zeros. On Linux, an array that becomes 4 MiB or more is copied to a mapping with the advice to use huge
    /// pages.
    pub fn append_zeros(&mut self, zeros: usize) {
        if !self.move_to_pages(zeros) {
            self.resize(self.len() + zeros, T::zeroed());
        }
    }

    /// Appends zeros as [`append_zeros`](Self::append_zeros) does, and frees the room that is not used.
    pub fn finish(&mut self, zeros: usize) {
        if !self.move_to_pages(zeros) {
            let list = self.list_mut();
            // Without exact room, the list would reserve twice its size.
            list.reserve_exact(zeros);
            list.resize(list.len() + zeros, T::zeroed());
            list.shrink_to_fit();
        }
    }

    /// Copies the array to huge pages, with zeros behind it. Returns `false` if it is too short for them.
    #[cfg(all(target_os = "linux", not(miri)))]
    fn move_to_pages(&mut self, zeros: usize) -> bool {
        let Some(pages) = HugePages::new(self, zeros) else { return false };
        *self = Self { list: Vec::new(), pages: Some(pages) };
        true
    }

    #[cfg(not(all(target_os = "linux", not(miri))))]
    fn move_to_pages(&mut self, _: usize) -> bool {
        false
    }

    /// Returns `true` if the array lies in huge pages, or in a mapping for them.
    #[cfg(all(test, target_os = "linux", not(miri)))]
    pub fn is_mapped(&self) -> bool {
        self.pages.is_some()
    }

    /// The list, with all elements.
    fn list_mut(&mut self) -> &mut Vec<T> {
        #[cfg(all(target_os = "linux", not(miri)))]
        if let Some(pages) = self.pages.take() {
            self.list = pages.to_vec();
        }
        &mut self.list
    }
}

impl<T: Pod> Deref for LargeArray<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        #[cfg(all(target_os = "linux", not(miri)))]
        if let Some(pages) = &self.pages {
            return pages;
        }
        &self.list
    }
}

impl<T: Pod> DerefMut for LargeArray<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        #[cfg(all(target_os = "linux", not(miri)))]
        if let Some(pages) = &mut self.pages {
            return pages;
        }
        &mut self.list
    }
}

impl<T: Pod> Extend<T> for LargeArray<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, elements: I) {
        self.list_mut().extend(elements);
    }
}

impl<T: Pod> Clone for LargeArray<T> {
    fn clone(&self) -> Self {
        Self::from(self.to_vec())
    }
}

impl<T: Pod + Debug> Debug for LargeArray<T> {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        (**self).fmt(formatter)
    }
}

impl<T> Default for LargeArray<T> {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl<T> From<Vec<T>> for LargeArray<T> {
    fn from(list: Vec<T>) -> Self {
        Self {
            list,
            #[cfg(all(target_os = "linux", not(miri)))]
            pages: None,
        }
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
mod huge_pages {
    use std::marker::PhantomData;
    use std::ops::{Deref, DerefMut};

    use bytemuck::Pod;
    use memmap2::{Advice, MmapMut};

    /// The least bytes of an array with a mapping of its own. A mapping of this size holds at least one whole huge page
    /// of 2 MiB, wherever it begins.
    const MIN_BYTES: usize = 4 << 20;

    /// The elements of an array in a mapping of their own, in huge pages if the system has some.
    pub struct HugePages<T> {
        mapping: MmapMut,
        elements: PhantomData<T>,
    }

    impl<T: Pod> HugePages<T> {
        /// Copies elements, with zeros behind them. Returns `None` for fewer than 4 MiB, or if the system gives no
        /// memory.
        pub fn new(elements: &[T], zeros: usize) -> Option<Self> {
            let length = elements.len().checked_add(zeros)?;
            let bytes = length.checked_mul(size_of::<T>()).filter(|&bytes| bytes >= MIN_BYTES)?;
            // A new mapping is zero, and begins at a page.
            let mut mapping = MmapMut::map_anon(bytes).ok()?;
            // A system without huge pages refuses the advice. Small ones hold the elements as well.
            let _ = mapping.advise(Advice::HugePage);
            mapping[..size_of_val(elements)].copy_from_slice(bytemuck::cast_slice(elements));
            Some(Self { mapping, elements: PhantomData })
        }
    }

    impl<T: Pod> Deref for HugePages<T> {
        type Target = [T];

        #[inline(always)]
        fn deref(&self) -> &[T] {
            bytemuck::cast_slice(&self.mapping)
        }
    }

    impl<T: Pod> DerefMut for HugePages<T> {
        #[inline(always)]
        fn deref_mut(&mut self) -> &mut [T] {
            bytemuck::cast_slice_mut(&mut self.mapping)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The elements of 4 MiB.
    const LARGE: usize = (4 << 20) / 4;

    #[test]
    fn elements_stay_where_an_array_moves() {
        for length in [0, 1, 1000, LARGE - 3, LARGE + 123_457] {
            let element = |index: usize| index as u32 * 3;
            let mut array = LargeArray::default();
            array.extend((0..length).map(element));
            array.finish(3);
            assert_eq!(array.len(), length + 3);
            assert!(array[..length].iter().enumerate().all(|(index, &number)| number == element(index)));
            assert_eq!(array[length..], [0; 3]);
            array[length] = 5;
            let clone = array.clone();
            assert_eq!(clone[..], array[..]);
            array.push(7);
            array.extend_from_slice(&[8]);
            assert_eq!(array[length..], [5, 0, 0, 7, 8]);
            array.resize(length, 0);
            assert_eq!(array[..], clone[..length]);
            for zeros in [5, LARGE] {
                let before = array.to_vec();
                array.append_zeros(zeros);
                assert_eq!(array[..before.len()], before);
                assert!(array.len() == before.len() + zeros && array[before.len()..].iter().all(|&number| number == 0));
            }
        }
    }

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn only_large_arrays_have_mappings() {
        for (length, zeros, is_mapped) in [(0, 0, false), (LARGE - 3, 2, false), (LARGE - 3, 3, true)] {
            let mut array = LargeArray::default();
            array.resize(length, 1_u32);
            let mut other = array.clone();
            array.finish(zeros);
            other.append_zeros(zeros);
            assert_eq!([array.is_mapped(), other.is_mapped()], [is_mapped; 2], "{length} and {zeros}");
            if let Some(first) = array.first_mut() {
                *first = 2;
            }
            assert_eq!(array.is_mapped(), is_mapped, "an element is written in place");
        }
    }
}
