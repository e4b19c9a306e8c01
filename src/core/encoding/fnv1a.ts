const FNV_PRIME = 0x01000193;

/** What the hash of a text begins with. */
export const FNV_OFFSET = 0x811c9dc5;

/** 32-bit FNV-1a over UTF-16 units, continuing `hash`. It tells texts apart where nobody gains by forging one. */
export function fnv1a(hash: number, text: string): number {
  let result = hash;
  for (let i = 0; i < text.length; i++) result = Math.imul(result ^ text.charCodeAt(i), FNV_PRIME);
  return result >>> 0;
}
