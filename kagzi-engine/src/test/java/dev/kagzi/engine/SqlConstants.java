package dev.kagzi.engine;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** Finds the engine's SQL: all static strings of its main classes that are statements or parts. */
final class SqlConstants {
  static final String ROOT = "dev.kagzi.engine";

  // Only the main classes: tests are in the same packages, in another folder.
  static final JavaClasses ENGINE =
      new ClassFileImporter()
          .importUrl(Engine.class.getProtectionDomain().getCodeSource().getLocation());

  private static final Pattern PART_OF_SQL =
      Pattern.compile("(?s).*\\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|FROM|WHERE|AND|SET)\\b.*");

  private SqlConstants() {}

  /**
   * Returns all constants with SQL, also parts of statements, as {@code package.Type.NAME}, without
   * "internal.".
   */
  static Map<String, String> all() {
    return find(type -> true);
  }

  /** Returns all constants with SQL in classes that the condition accepts. */
  static Map<String, String> find(Predicate<JavaClass> condition) {
    Map<String, String> found = new TreeMap<>();
    for (JavaClass type : ENGINE) {
      if (condition.test(type)) {
        for (Field field : type.reflect().getDeclaredFields()) {
          if (Modifier.isStatic(field.getModifiers()) && field.getType() == String.class) {
            String text = value(field);
            if (PART_OF_SQL.matcher(text).matches()) {
              found.put(name(type) + "." + field.getName(), text);
            }
          }
        }
      }
    }
    return found;
  }

  private static String name(JavaClass type) {
    String name = type.getName().substring(ROOT.length() + 1).replace('$', '.');
    return name.startsWith("internal.") ? name.substring("internal.".length()) : name;
  }

  private static String value(Field field) {
    try {
      field.setAccessible(true);
      return (String) field.get(null);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(field.toString(), e);
    }
  }
}
