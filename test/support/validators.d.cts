export interface Validate {
  (value: unknown): boolean;
  errors?: { instancePath: string; message?: string; params: object }[] | null;
}

export function compilerOf(schemas: string, checked: boolean): (text: string) => Validate;
