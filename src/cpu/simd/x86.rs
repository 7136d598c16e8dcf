//! The parts that AVX2 and AVX-512 share, which differ only in the names of the intrinsics.

/// Implements the operators of a register by one intrinsic each.
macro_rules! operators {
    ($register:ident: $($operator:ident $method:ident $intrinsic:ident),*) => {
        $(impl<const EXACT: bool> $operator for $register<EXACT> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                // SAFETY: the token of `self` proves that the machine has the instructions; no memory is accessed.
                Self(unsafe { $intrinsic(self.0, other.0) }, self.1)
            }
        })*
    };
}
pub(super) use operators;

/// Writes the methods of [`Register`](super::Register) that differ between AVX2 and AVX-512 only in the names of the
/// intrinsics.
macro_rules! register_methods {
    (
        load $load:ident, store $store:ident, splat $splat:ident, multiply_add $multiply_add:ident,
        min $min:ident, max $max:ident, reciprocal_square_root $estimate:ident, square_root $root:ident,
        permute $permute:ident, unpack $unpack_low:ident $unpack_high:ident, shuffle $shuffle:ident
    ) => {
        #[inline(always)]
        fn token(self) -> Token<Self> {
            self.1
        }

        #[inline(always)]
        fn splat(token: Token<Self>, number: f32) -> Self {
            // SAFETY: the token proves that the machine has the instructions; no memory is accessed.
            Self(unsafe { $splat(number) }, token)
        }

        #[inline(always)]
        fn load(token: Token<Self>, from: &[Vec4]) -> Self {
            let from = &from[..Self::BLOCK / 4];
            // SAFETY: the token proves that the machine has the instructions; `from` has the numbers of a register.
            Self(unsafe { $load(from.as_ptr().cast()) }, token)
        }

        #[inline(always)]
        fn store(self, to: &mut [Vec4]) {
            let to = &mut to[..Self::BLOCK / 4];
            // SAFETY: the token of `self` proves that the machine has the instructions; `to` has the numbers of a
            // register.
            unsafe { $store(to.as_mut_ptr().cast(), self.0) }
        }

        #[inline(always)]
        fn multiply_add(self, factor: Self, addend: Self) -> Self {
            // SAFETY: the token of `self` proves that the machine has the instructions; no memory is accessed.
            Self(unsafe { $multiply_add(self.0, factor.0, addend.0) }, self.1)
        }

        #[inline(always)]
        fn min(self, other: Self) -> Self {
            // SAFETY: the token of `self` proves that the machine has the instructions; no memory is accessed.
            Self(unsafe { $min(self.0, other.0) }, self.1)
        }

        #[inline(always)]
        fn max(self, other: Self) -> Self {
            // SAFETY: the token of `self` proves that the machine has the instructions; no memory is accessed.
            Self(unsafe { $max(self.0, other.0) }, self.1)
        }

        #[inline(always)]
        fn square_root(self) -> Self {
            // SAFETY: the token of `self` proves that the machine has the instructions; no memory is accessed.
            Self(unsafe { $root(self.0) }, self.1)
        }

        #[inline(always)]
        fn inverse_square_root(self) -> Self {
            if EXACT {
                return Self::splat(self.1, 1.0) / self.square_root();
            }
            // SAFETY: the token of `self` proves that the machine has the instructions; no memory is accessed.
            let near = Self(unsafe { $estimate(self.0) }, self.1);
            // One step of Newton's method: from the 12 bits of AVX2 to 23, from the 14 bits of AVX-512 to all.
            let half = Self::splat(self.1, -0.5) * self * near;
            near * half.multiply_add(near, Self::splat(self.1, 1.5))
        }

        #[inline(always)]
        fn sum_of_joint(self) -> Self {
            // SAFETY: the token of `self` proves that the machine has the instructions; no memory is accessed.
            let pairs = self + Self(unsafe { $permute::<0b10_11_00_01>(self.0) }, self.1);
            // SAFETY: as above.
            pairs + Self(unsafe { $permute::<0b01_00_11_10>(pairs.0) }, self.1)
        }

        #[inline(always)]
        fn transpose(block: [Self; 4]) -> [Self; 4] {
            let [Self(x, token), Self(y, _), Self(z, _), Self(w, _)] = block;
            // SAFETY: the token of the block proves that the machine has the instructions; no memory is accessed.
            unsafe {
                let (xy_low, xy_high) = ($unpack_low(x, y), $unpack_high(x, y));
                let (zw_low, zw_high) = ($unpack_low(z, w), $unpack_high(z, w));
                [
                    Self($shuffle::<0b01_00_01_00>(xy_low, zw_low), token),
                    Self($shuffle::<0b11_10_11_10>(xy_low, zw_low), token),
                    Self($shuffle::<0b01_00_01_00>(xy_high, zw_high), token),
                    Self($shuffle::<0b11_10_11_10>(xy_high, zw_high), token),
                ]
            }
        }
    };
}
pub(super) use register_methods;
