// What requests usually leave reserved: plain JavaScript, tested by `npm test`.

export class Usual {
  #reserved = [];

  /** Whether a request left more than `times` the median of the last `requests` ones. Outliers are not counted among them. */
  isOutlier(reservedBytes, times, requests) {
    const last = this.#reserved.slice(-requests);
    if (last.length === requests && reservedBytes > times * median(last)) return true;
    this.#reserved = [...last, reservedBytes];
    return false;
  }
}

function median(numbers) {
  const sorted = [...numbers].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)];
}
