package dev.kagzi.server.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

public final class DidYouMean {
  private DidYouMean() {}

  /**
   * Returns the candidate with the smallest edit distance; empty if that distance is more than a
   * third of the word's length, rounded down. A distance of 1 is always accepted.
   */
  public static Optional<String> suggest(String word, Collection<String> candidates) {
    return candidates.stream()
        .min(
            Comparator.<String>comparingInt(each -> distance(word, each))
                .thenComparing(each -> each))
        .filter(each -> distance(word, each) <= Math.max(1, word.length() / 3));
  }

  private static int distance(String a, String b) {
    int[] above = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      above[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int[] row = new int[b.length() + 1];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = above[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(replaced, Math.min(above[j], row[j - 1]) + 1);
      }
      above = row;
    }
    return above[b.length()];
  }
}
