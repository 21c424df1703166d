package dev.kagzi.browser;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.options.ColorScheme;
import java.util.Locale;

/** How a browser shows pages. */
enum Look {
  LIGHT_WIDE(ColorScheme.LIGHT, 1280, 800),
  DARK_WIDE(ColorScheme.DARK, 1280, 800),
  LIGHT_PHONE(ColorScheme.LIGHT, 390, 844),
  DARK_PHONE(ColorScheme.DARK, 390, 844);

  private final ColorScheme colors;
  private final int width;
  private final int height;

  Look(ColorScheme colors, int width, int height) {
    this.colors = colors;
    this.width = width;
    this.height = height;
  }

  Browser.NewContextOptions options() {
    return new Browser.NewContextOptions().setColorScheme(colors).setViewportSize(width, height);
  }

  /**
   * Returns whether Axe examines pages that look like this: both colours and both widths, but not
   * all four together, because it takes seconds.
   */
  boolean isExamined() {
    return this == LIGHT_WIDE || this == DARK_PHONE;
  }

  /** Returns the same width in the other colours. */
  Look inOtherColors() {
    return switch (this) {
      case LIGHT_WIDE -> DARK_WIDE;
      case DARK_WIDE -> LIGHT_WIDE;
      case LIGHT_PHONE -> DARK_PHONE;
      case DARK_PHONE -> LIGHT_PHONE;
    };
  }

  ColorScheme colors() {
    return colors;
  }

  String fileName() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
