// What limits mean, in numbers of any size: the reference that the library is compared with.
//
// A model says for any instant what of a limit is used, as a fraction that is never rounded, and
// from that whether a cost fits. It does not compute when it will: since time alone only ever frees
// permits, an instant is the first at which a cost fits if it fits then and not a nanosecond
// before. Nothing here is quick, and nothing is taken from the library but where it states how it
// rounds.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <memory>

namespace weir::reference {

using Whole = boost::multiprecision::cpp_int;        // permits, nanoseconds since the epoch
using Number = boost::multiprecision::cpp_rational;  // the same, with fractions

inline Whole Floor(const Number& x) {
  const Whole whole = numerator(x) / denominator(x);  // rounds towards zero
  return Number(whole) > x ? Whole(whole - 1) : whole;
}
inline Whole Ceil(const Number& x) { return -Floor(-x); }

class Model {
 public:
  virtual ~Model() = default;
  [[nodiscard]] virtual std::unique_ptr<Model> Clone() const = 0;

  // No cost above this ever fits.
  [[nodiscard]] virtual Whole Most() const = 0;
  [[nodiscard]] virtual bool Fits(const Whole& cost, const Whole& at) const = 0;
  // What is left of the limit as it was stated, without what a soft one lets through above it.
  [[nodiscard]] virtual Whole Remaining(const Whole& at) const = 0;
  // Nothing of what was used makes a difference any more.
  [[nodiscard]] virtual bool Forgotten(const Whole& at) const = 0;
  // Whether what was added last stands above the limit as it was stated.
  [[nodiscard]] virtual bool Above(const Whole& /*at*/) const { return false; }
  // How long after `at` it is the turn of what was added then. Only shapers make anybody wait.
  [[nodiscard]] virtual Whole Wait(const Whole& /*at*/) const { return 0; }

  virtual void Add(const Whole& cost, const Whole& at) = 0;
  // Like Add(), fitting or not: it goes behind whoever stands in line already.
  virtual void Charge(const Whole& cost, const Whole& at) = 0;
  virtual void Remove(const Whole& cost, const Whole& at) = 0;
  virtual void Refuse(const Whole& /*cost*/, const Whole& /*at*/) {}  // where refusals count
};

// A limit on a sum: what is used and the cost must not exceed it.
class Sum : public Model {
 public:
  Sum(Whole nominal, Whole most) : nominal_(std::move(nominal)), most_(std::move(most)) {}

  [[nodiscard]] virtual Number Used(const Whole& at) const = 0;
  // First come, first served: nobody goes before the last one who has a place in line.
  [[nodiscard]] virtual Whole LastInLine() const { return 0; }
  // And some keep a distance to it.
  [[nodiscard]] virtual Whole Gap() const { return 0; }

  [[nodiscard]] Whole Most() const override { return most_; }
  [[nodiscard]] bool Fits(const Whole& cost, const Whole& at) const override {
    return at >= LastInLine() + Gap() && Used(at) + Number(cost) <= Number(most_);
  }
  [[nodiscard]] Whole Remaining(const Whole& at) const override {
    if (at < LastInLine()) return 0;
    const Whole left = Floor(Number(nominal_) - Used(at));
    return left > 0 ? left : Whole(0);
  }
  [[nodiscard]] bool Forgotten(const Whole& at) const override {
    return at >= LastInLine() + Gap() && Used(at) == 0;
  }
  [[nodiscard]] bool Above(const Whole& at) const override { return Used(at) > Number(nominal_); }
  void Charge(const Whole& cost, const Whole& at) override {
    Add(cost, at > LastInLine() ? at : LastInLine());
  }

 protected:
  Whole nominal_;
  Whole most_;
};

}  // namespace weir::reference
