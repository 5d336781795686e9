export const ExceptionCodes = {};
export const titleOfCode = () => undefined;
