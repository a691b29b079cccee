/** Colours of the theme, by name, as a canvas wants them: those that hold where an element stands, in light or in dark. */
export function colours<Name extends string>(place: Element, names: readonly Name[]): Record<Name, string> {
  // A custom property is read as it was written, `light-dark(…)` and all; a real one is read as the colour that it comes to.
  const probe = place.appendChild(document.createElement('i'));
  const read = Object.fromEntries(
    names.map((name) => {
      probe.style.color = `var(--${name})`;
      return [name, getComputedStyle(probe).color];
    }),
  );
  probe.remove();
  return read as Record<Name, string>;
}
