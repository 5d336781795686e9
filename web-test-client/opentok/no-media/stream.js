export class Stream {}
export const newStreamId = () => '';
