/** Label selectors inside objects. Rules and texts: upstream apimachinery pkg/apis/meta/v1/validation ValidateLabelSelector. */
import { forbiddenField, invalidValue, required } from "../meta/field-errors";
import type { FieldError } from "../meta/field-errors";
import type { LabelSelector } from "../meta/kubernetes";
import { validateLabelKey, validateLabelValue } from "../meta/names";
import { validateLabels } from "../meta/object-meta";

/** Appends the errors of a selector at `field`. */
export function validateLabelSelector({ matchLabels, matchExpressions }: LabelSelector, field: string, errors: FieldError[]): void {
  validateLabels(matchLabels, `${field}.matchLabels`, errors);
  (matchExpressions ?? []).forEach(({ key, operator, values = [] }, i) => {
    const at = `${field}.matchExpressions[${i}]`;
    switch (operator) {
      case "In":
      case "NotIn":
        if (values.length === 0) errors.push(required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
        break;
      case "Exists":
      case "DoesNotExist":
        if (values.length > 0) {
          errors.push(forbiddenField(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
        }
        break;
      default:
        errors.push(invalidValue(`${at}.operator`, operator, "not a valid selector operator"));
    }
    for (const message of validateLabelKey(key)) errors.push(invalidValue(`${at}.key`, key, message));
    values.forEach((value, j) => {
      for (const message of validateLabelValue(value)) errors.push(invalidValue(`${at}.values[${j}]`, value, message));
    });
  });
}
