/** The sums over many histories. */
import type { WholeReport } from "../../../test/support/sim/histories/whole-history";

export class Tally {
  histories = 0;
  operations = 0;
  faults = 0;
  readonly failed: WholeReport[] = [];
  readonly marks = new Set<string>();

  add(report: WholeReport): void {
    this.histories++;
    this.operations += report.operations;
    this.faults += report.faults;
    for (const mark of report.marks) this.marks.add(mark);
    if (report.violations.length === 0) return;
    this.failed.push(report);
    this.failed.sort((a, b) => a.seed - b.seed);
  }

  get summary(): string {
    const each = (total: number): string => (total / Math.max(1, this.histories)).toFixed(0);
    return `on average ${each(this.operations)} operations and ${each(this.faults)} faults each: ${this.failed.length} failed`;
  }
}
