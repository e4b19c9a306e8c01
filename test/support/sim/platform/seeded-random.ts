import { WordRandom } from "../../../../src/core/base/word-random";

/** Random numbers that one seed reproduces (the sfc32 generator, which passes the usual statistical batteries). */
export function seededRandom(seed: number): WordRandom {
  let [a, b, c, counter] = [0x9e3779b9, 0x243f6a88, seed | 0, 1];
  const word = (): number => {
    const out = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + out;
    c |= 0;
    return out >>> 0;
  };
  for (let i = 0; i < 15; i++) word();
  return new WordRandom(word);
}

/** One of several, each as likely. */
export function pick<T>(random: WordRandom, all: readonly T[]): T {
  const found = all[random.below(all.length)];
  if (found === undefined) throw new Error("nothing to choose from");
  return found;
}
