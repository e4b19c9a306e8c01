/**
 * What the objects with the health of nodes have told of their checks, one row for each. An object tells running totals of its memory's life. When it tells
 * of a later life, those of the one before are kept for good. A message of an earlier life, or with less than is known, came late and changes nothing.
 */
import type { RowStorage } from "../../controllers/followed/row-storage";
import {
  addedAnswers,
  type AnswerCounts,
  type FamilyStates,
  type HealthCounts,
  type HealthTally,
  joinedFamilies,
  NODE_STATES,
  type AgentState,
} from "./health-tally";

const KIND = "health-tallies";

interface TallyRow extends HealthTally {
  /** of the lives before */
  readonly before: AnswerCounts;
}

export class HealthBooks {
  constructor(private readonly storage: RowStorage) {}

  add(shard: number, tally: HealthTally): void {
    const row = this.#rows().get(String(shard));
    if (row && (tally.life < row.life || (tally.life === row.life && sumOf(tally.answers) < sumOf(row.answers)))) return;
    const before = !row ? {} : tally.life === row.life ? row.before : addedAnswers(row.before, row.answers);
    const next: TallyRow = { ...tally, before };
    this.storage.transaction(() => this.storage.rowPut(KIND, String(shard), JSON.stringify(next)));
  }

  get counts(): HealthCounts {
    let answers: AnswerCounts = {};
    let families: FamilyStates = {};
    const nodes = Object.fromEntries(NODE_STATES.map((state) => [state, 0])) as Record<AgentState, number>;
    for (const row of this.#rows().values()) {
      answers = addedAnswers(addedAnswers(answers, row.before), row.answers);
      families = joinedFamilies(families, row.families ?? {});
      for (const state of NODE_STATES) nodes[state] += row.nodes[state];
    }
    return { answers, nodes, families };
  }

  /** Read each time: once a minute for each shard, and for a scrape. */
  #rows(): Map<string, TallyRow> {
    // Written by `add` alone.
    return new Map([...this.storage.rows(KIND)].map(([shard, text]) => [shard, JSON.parse(text) as TallyRow]));
  }
}

function sumOf(answers: AnswerCounts): number {
  return Object.values(answers).reduce((sum, count) => sum + count, 0);
}
