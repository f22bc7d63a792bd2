/** The inputs that one request may have. */
export const MAX_INPUTS = 1_000;
/** The values that all of them may have together. Each costs time to validate. */
export const MAX_INPUT_VALUES = 20_000;
