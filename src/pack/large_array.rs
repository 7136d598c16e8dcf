//! Arrays in large pages of memory.
//!
//! A processor keeps the places of some thousand pages. Keys that instances read at random times lie in more pages than that, where a page
//! has 4 KiB. With pages of 2 MiB it looks up fewer places in the tables of the system, which takes as long as the keys themselves.

use std::ops::{Deref, DerefMut};

use bytemuck::Pod;

#[cfg(target_os = "linux")]
use pages::Pages;

/// An array that grows, until [`finish`](Self::finish) gives it its last place. An array that grows or is cloned after that is in
/// small pages again.
#[derive(Debug)]
pub struct LargeArray<T> {
    elements: Vec<T>,
    /// If set, the elements are here, and the list is empty.
    #[cfg(target_os = "linux")]
    pages: Option<Pages<T>>,
}

impl<T: Pod> LargeArray<T> {
    /// Appends an element.
    pub fn push(&mut self, element: T) {
        self.list().push(element);
    }

    /// Appends elements from a slice.
    pub fn extend_from_slice(&mut self, elements: &[T]) {
        self.list().extend_from_slice(elements);
    }

    /// Appends copies of an element up to a length, or drops the elements beyond it.
    pub fn resize(&mut self, length: usize, element: T) {
        self.list().resize(length, element);
    }

    /// Appends zeros, and frees the room that is not used. A large array moves to large pages, if the system has them.
    pub fn finish(&mut self, zeros: usize) {
        #[cfg(target_os = "linux")]
        if let Some(pages) = Pages::new(self, zeros) {
            *self = Self { elements: Vec::new(), pages: Some(pages) };
            return;
        }
        let list = self.list();
        // Without exact room, the list would reserve twice its size.
        list.reserve_exact(zeros);
        list.resize(list.len() + zeros, T::zeroed());
        list.shrink_to_fit();
    }

    /// The list that grows.
    fn list(&mut self) -> &mut Vec<T> {
        #[cfg(target_os = "linux")]
        if let Some(pages) = self.pages.take() {
            self.elements = pages.to_vec();
        }
        &mut self.elements
    }
}

impl<T: Pod> Deref for LargeArray<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        #[cfg(target_os = "linux")]
        if let Some(pages) = &self.pages {
            return pages;
        }
        &self.elements
    }
}

impl<T: Pod> DerefMut for LargeArray<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.list()
    }
}

impl<T: Pod> Extend<T> for LargeArray<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, elements: I) {
        self.list().extend(elements);
    }
}

impl<T: Pod> Clone for LargeArray<T> {
    fn clone(&self) -> Self {
        Self::from(self.to_vec())
    }
}

impl<T> Default for LargeArray<T> {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl<T> From<Vec<T>> for LargeArray<T> {
    fn from(elements: Vec<T>) -> Self {
        Self {
            elements,
            #[cfg(target_os = "linux")]
            pages: None,
        }
    }
}

#[cfg(target_os = "linux")]
mod pages {
    use std::marker::PhantomData;
    use std::ops::Deref;

    use bytemuck::Pod;
    use memmap2::{Advice, MmapMut};

    /// The least size in bytes of an array in large pages: two pages of 2 MiB. The last page may be half empty.
    const LEAST: usize = 4 << 20;

    /// Elements in memory of their own, in large pages where the system has some left.
    #[derive(Debug)]
    pub struct Pages<T> {
        memory: MmapMut,
        length: usize,
        elements: PhantomData<T>,
    }

    impl<T: Pod> Pages<T> {
        /// Copies elements, with zeros behind them. Returns `None` for few elements, or if the system gives no memory.
        pub fn new(elements: &[T], zeros: usize) -> Option<Self> {
            let length = elements.len().checked_add(zeros)?;
            let bytes = length.checked_mul(size_of::<T>()).filter(|&bytes| bytes >= LEAST)?;
            // New memory is zero.
            let mut memory = MmapMut::map_anon(bytes).ok()?;
            // A system without large pages refuses the advice. Small ones hold the elements as well.
            let _ = memory.advise(Advice::HugePage);
            memory[..size_of_val(elements)].copy_from_slice(bytemuck::cast_slice(elements));
            Some(Self { memory, length, elements: PhantomData })
        }
    }

    impl<T: Pod> Deref for Pages<T> {
        type Target = [T];

        fn deref(&self) -> &[T] {
            // Memory begins at a page, and has the pages that the elements need.
            bytemuck::cast_slice(&self.memory[..self.length * size_of::<T>()])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_stay_where_an_array_moves() {
        for length in [0, 1, 1000, (4 << 20) / 4 - 3, 1_234_567, 3 << 20] {
            let element = |index: usize| index as u32 * 3;
            let mut array = LargeArray::default();
            array.extend((0..length).map(element));
            array.finish(3);
            assert_eq!(array.len(), length + 3);
            assert!(array[..length].iter().enumerate().all(|(index, &number)| number == element(index)));
            assert_eq!(array[length..], [0; 3]);
            let clone = array.clone();
            assert_eq!(clone[..], array[..]);
            array.push(7);
            array[length] = 5;
            array.extend_from_slice(&[8]);
            assert_eq!(array[length..], [5, 0, 0, 7, 8]);
            array.resize(length, 0);
            assert_eq!(array[..], clone[..length]);
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn only_large_arrays_have_pages_of_their_own() {
        for (length, zeros, has_pages) in [(0, 0, false), ((4 << 20) / 4 - 3, 2, false), ((4 << 20) / 4 - 3, 3, true)] {
            let mut array = LargeArray::default();
            array.resize(length, 1_u32);
            array.finish(zeros);
            assert_eq!(array.pages.is_some(), has_pages, "{length} and {zeros}");
        }
    }
}
