export function startService(settings?: Record<string, string>): Promise<{ url: string; stop: () => Promise<void> }>;
