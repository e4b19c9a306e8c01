/**
 * What upstream's admission plugin DefaultTolerationSeconds adds to a Pod at its creation and at its updates, but not at those of subresources. For
 * five minutes the Pod tolerates that its Node is not ready or cannot be reached (plugin/pkg/admission/defaulttolerationseconds). The plugin is on by
 * default, and so it is here.
 */
import type { Pod } from "../../meta/kubernetes";

/** The keys of the taints, in upstream's order. */
const TOLERATED_TAINTS = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
/** Upstream's --default-not-ready-toleration-seconds and --default-unreachable-toleration-seconds. */
const DEFAULT_TOLERATION_SECONDS = 300;

/** A toleration of the key, or of every key, keeps the default out; its operator, its value and its seconds play no role. */
export function addDefaultTolerations({ spec }: Pod): void {
  if (!spec) return;
  const given = spec.tolerations ?? [];
  const isTolerated = (taint: string): boolean =>
    given.some(({ key = "", effect = "" }) => (key === taint || key === "") && (effect === "NoExecute" || effect === ""));
  const added = TOLERATED_TAINTS.filter((taint) => !isTolerated(taint)).map((key) => ({
    key,
    operator: "Exists",
    effect: "NoExecute",
    tolerationSeconds: DEFAULT_TOLERATION_SECONDS,
  }));
  if (added.length > 0) spec.tolerations = [...given, ...added];
}
