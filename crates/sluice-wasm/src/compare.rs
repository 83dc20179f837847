//! Compares sixteen bytes at a time. Texts and ids are compared often, and the standard library of this target does so
//! byte by byte.

use core::arch::wasm32::{u8x16_ne, v128, v128_any_true, v128_load};

/// Overrides the `memcmp` of the standard library, which is a weak symbol.
///
/// # Safety
///
/// As in C, both pointers must be valid for `length` bytes.
#[expect(clippy::cast_ptr_alignment, reason = "these loads need no alignment")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memcmp(left: *const u8, right: *const u8, length: usize) -> i32 {
    let mut at = 0;
    while at + 16 <= length {
        // SAFETY: at least sixteen bytes are left in both.
        let (left, right) =
            unsafe { (v128_load(left.add(at).cast::<v128>()), v128_load(right.add(at).cast::<v128>())) };
        if v128_any_true(u8x16_ne(left, right)) {
            break;
        }
        at += 16;
    }
    while at < length {
        // SAFETY: at least one byte is left in both.
        let (left, right) = unsafe { (left.add(at).read(), right.add(at).read()) };
        if left != right {
            return i32::from(left) - i32::from(right);
        }
        at += 1;
    }
    0
}
