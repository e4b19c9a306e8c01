/** What the store of Namespaces keeps of the labels that it tells the store of Services: one value beside the store's tables, in its transactions. */
import type { LabelNote, LabelNotes } from "../src/controllers/namespaces/label-pushes";

const NOTE = "namespace-labels";

/** The LabelNotes port. */
export function keptLabelNotes({ kv }: DurableObjectStorage): LabelNotes {
  return {
    labelNote: () => kv.get<LabelNote>(NOTE),
    labelNoteSave: (note) => kv.put(NOTE, note),
  };
}
