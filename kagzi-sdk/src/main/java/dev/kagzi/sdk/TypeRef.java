package dev.kagzi.sdk;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;

/**
 * A type with its parameters, for values such as lists: {@code new TypeRef<List<Parcel>>() {}}. The
 * braces matter: the subclass they make is what keeps the parameters at run time.
 *
 * @param <T> the type to keep
 */
public abstract class TypeRef<T> {
  private final Type type;

  protected TypeRef() {
    if (!(getClass().getGenericSuperclass() instanceof ParameterizedType self)) {
      throw new IllegalArgumentException(
          "TypeRef: no type parameter (expected: new TypeRef<List<String>>() {})");
    }
    this.type = self.getActualTypeArguments()[0];
  }

  /** The type with its parameters. */
  public final Type type() {
    return type;
  }

  @Override
  public final String toString() {
    return type.getTypeName();
  }
}
