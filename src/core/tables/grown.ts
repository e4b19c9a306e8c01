type NumberArray = Uint8Array | Uint16Array | Uint32Array;

/** The array, or a copy with room for `length` entries: an eighth more than that, so that it is copied seldom. */
export function grown<A extends NumberArray>(array: A, length: number): A {
  if (array.length >= length) return array;
  const copy = new (array.constructor as new (length: number) => A)(Math.ceil(length * 1.125));
  copy.set(array);
  return copy;
}
