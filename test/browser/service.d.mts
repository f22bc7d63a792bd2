export function startService(
  settings?: Record<string, string>,
  program?: string,
): Promise<{ url: string; stop: () => Promise<void> }>;
