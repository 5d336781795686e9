/**
 * Calls `tell(files)` for files that the user drops on `target` or pastes there. A browser would open a dropped file in
 * place of the page.
 */
export function refuseFiles(target, tell) {
  target.addEventListener('dragover', (event) => {
    if (hasFiles(event.dataTransfer)) event.preventDefault();
  });
  target.addEventListener('drop', (event) => {
    // An element inside of the target has told already.
    if (!hasFiles(event.dataTransfer) || event.defaultPrevented) return;
    event.preventDefault();
    tell([...event.dataTransfer.files]);
  });
  target.addEventListener('paste', (event) => refusePastedFiles(event, tell));
}

/** Calls `tell(files)` if a `paste` event has files. */
export function refusePastedFiles(event, tell) {
  // Copied cells and pages are text with a picture of it: the text is pasted.
  const isText = event.clipboardData?.types.some((type) => type.startsWith('text/'));
  if (!hasFiles(event.clipboardData) || isText || event.defaultPrevented) return;
  event.preventDefault();
  tell([...event.clipboardData.files]);
}

function hasFiles(data) {
  return data?.types.includes('Files') ?? false;
}
