import type { Secret } from "../../meta/kubernetes";
import { SecretSchema } from "../../schema/kinds/core-secrets";
import { AGE_COLUMN, NAME_COLUMN, ageOf, column, nameOf } from "../common-columns";
import { COMMON, unsupportedFieldLabel } from "../common-definition";
import { defineResource } from "../resource";
import { secretStrategy } from "./strategy";

export const secretsDefinition = defineResource<Secret>({
  ...COMMON,
  group: "",
  versions: ["v1"],
  resource: "secrets",
  singular: "secret",
  kind: "Secret",
  confidential: true,
  schema: SecretSchema,
  columns: [NAME_COLUMN, column("Type", "What the data is, for programs."), column("Data", "How many keys data has."), AGE_COLUMN],
  cells: (secret, now) => [nameOf(secret), secret.type ?? "", Object.keys(secret.data ?? {}).length, ageOf(secret, now)],
  selectableFields: ({ type }) => ({ type: type ?? "" }),
  fieldLabels: ["type"],
  unknownFieldLabel: unsupportedFieldLabel,
  strategy: secretStrategy,
});
