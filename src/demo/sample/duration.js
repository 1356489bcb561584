/** Seconds as people read them: 59 → "59s", 90 → "1m 30s". */
export function formatDuration(seconds) {
  const minutes = Math.floor(seconds / 60);
  const rest = seconds % 60;
  return minutes === 0 ? `${rest}s` : `${minutes}m ${rest}s`;
}
