/** The ServiceAccount `default`. Source: upstream pkg/controller/serviceaccount/serviceaccounts_controller.go. */
import type { WantedObject } from "./wanted-object";

export const DEFAULT_SERVICE_ACCOUNT = "default";

/** What users change in it stays. */
export const defaultServiceAccount: WantedObject = {
  name: DEFAULT_SERVICE_ACCOUNT,
  manager: "serviceaccount-controller",
  create: () => ({}),
  isRight: () => true,
  mended: (account) => account,
};
