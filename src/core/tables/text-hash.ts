/** 32 bits of a text (FNV-1a over its UTF-16 code units). Texts that differ may have the same. Source: draft-eastlake-fnv. */
export function textHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
