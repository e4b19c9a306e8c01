/** ConfigMaps (upstream pkg/registry/core/configmap, pkg/apis/core/validation ValidateConfigMap and ValidateConfigMapUpdate). */
import { base64Length } from "../../../core/encoding/base64";
import { utf8Length } from "../../../core/encoding/utf8-length";
import { invalidValue } from "../../meta/field-errors";
import type { FieldError } from "../../meta/field-errors";
import type { ConfigMap } from "../../meta/kubernetes";
import { BASE_STRATEGY } from "../base-strategy";
import { validateImmutable, validateKeys, validateTotal } from "../keyed-data";
import type { Strategy } from "../resource";

/** How upstream prints the path of the whole object. */
const WHOLE_OBJECT = "[]";

function validate({ data, binaryData = {} }: ConfigMap): FieldError[] {
  const errors: FieldError[] = [];
  const bytes = validateKeys("data", data, utf8Length, errors);
  for (const key in binaryData) {
    if (data && Object.hasOwn(data, key)) errors.push(invalidValue(`data[${key}]`, key, "duplicate of key present in binaryData"));
  }
  validateTotal(WHOLE_OBJECT, bytes + validateKeys("binaryData", binaryData, base64Length, errors), errors);
  return errors;
}

export const configMapStrategy: Strategy<ConfigMap> = {
  ...BASE_STRATEGY,
  validate,
  validateUpdate: (change) => validateImmutable(change, ["data", "binaryData"]),
};
