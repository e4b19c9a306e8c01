/**
 * Sharing work among instances that do not talk to each other: each key belongs to the instance that has the highest score with it (rendezvous
 * hashing). Whoever knows the same instances shares in the same way. An instance that goes leaves its keys to the others, one that comes takes
 * some from each; no other key moves.
 */

/** The keys that `self` works on. It works on all of them if it is not among the instances: then it cannot know who else is there. */
export function shareOf<T>(items: readonly T[], keyOf: (item: T) => string, instances: readonly string[], self: string): T[] {
  if (!instances.includes(self)) return [...items];
  return items.filter((item) => instanceFor(keyOf(item), instances) === self);
}

/** The instance that works on the key; the order of `instances` means nothing. */
function instanceFor(key: string, instances: readonly string[]): string | undefined {
  let best: { instance: string; score: number } | undefined;
  for (const instance of instances) {
    const score = scoreOf(`${instance} ${key}`);
    if (!best || score > best.score || (score === best.score && instance < best.instance)) best = { instance, score };
  }
  return best?.instance;
}

/** FNV-1a of 32 bits, then MurmurHash3's last step: without it names that differ in their last character would all go to one instance. */
function scoreOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
