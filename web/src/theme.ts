// Light or dark: as the system, unless the reader chose.
import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";
const kept = "praxis-theme";
export const theme = signal<Theme>((localStorage.getItem(kept) as Theme | null) ?? "system");

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  localStorage.setItem(kept, theme.value);
});

export function nextTheme(): void {
  theme.value = theme.value === "system" ? "light" : theme.value === "light" ? "dark" : "system";
}
