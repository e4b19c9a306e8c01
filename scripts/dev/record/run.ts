/** Plays the corpus against the real kube-apiserver, and writes down what it answers, or where another server differs. */
import { corpus, wholeCorpus } from "../../../test/support/replay/corpus";
import { departures } from "../../../test/support/replay/departures";
import { differences } from "../../../test/support/replay/differences";
import { type Answer, playGroup } from "../../../test/support/replay/play";
import { writeRecord } from "../../../test/support/replay/record";
import { removeFolder, temporaryFolder } from "../../../test/support/server/server";
import { startUpstream, type Upstream } from "./upstream";

/** @throws Error where the programs cannot be built or do not answer */
export async function record(): Promise<void> {
  await withUpstream(async ({ target }) => {
    const answers = new Map<string, Answer>();
    for (const group of corpus) {
      for (const [id, answer] of await playGroup(target, group)) answers.set(id, answer);
    }
    writeRecord(corpus, answers);
    console.log(`${String(answers.size)} answers`);
  });
}

/**
 * Prints each difference that no departure excuses. Resolves to whether there was none.
 *
 * @throws Error as `record`
 */
export async function compare(url: string): Promise<boolean> {
  let unlike = 0;
  await withUpstream(async ({ target }) => {
    for (const group of wholeCorpus) {
      const [upstream, ours] = await Promise.all([playGroup(target, group), playGroup({ url }, group)]);
      for (const [id, answer] of upstream) {
        const own = ours.get(id);
        const left = own
          ? differences(answer, own).filter(({ at: place }) => !departures.some(({ where, at }) => where.test(id) && at.test(place)))
          : [];
        if (left.length === 0) continue;
        unlike++;
        console.log(`${id}\n${left.map((difference) => `  ${JSON.stringify(difference)}`).join("\n")}`);
      }
    }
  });
  console.log(`${String(unlike)} answers differ`);
  return unlike === 0;
}

async function withUpstream(work: (upstream: Upstream) => Promise<void>): Promise<void> {
  const folder = temporaryFolder();
  const upstream = await startUpstream(folder);
  try {
    await work(upstream);
  } finally {
    await upstream.stop();
    removeFolder(folder);
  }
}
