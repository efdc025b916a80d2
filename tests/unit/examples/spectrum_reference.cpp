#include "spectrum_reference.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numbers>

namespace intarsia::examples {

std::vector<std::complex<double>> spectrum(const std::vector<double>& samples) {
  const size_t size = samples.size();
  std::vector<std::complex<double>> circle(size);
  for (size_t i = 0; i < size; ++i)
    circle[i] = std::polar(1.0, -2 * std::numbers::pi * double(i) / double(size));
  std::vector<std::complex<double>> bins(size / 2 + 1);
  for (size_t k = 0; k < bins.size(); ++k) {
    for (size_t i = 0; i < size; ++i) bins[k] += samples[i] * circle[i * k % size];
    bins[k] /= double(size);
  }
  return bins;
}

std::vector<double> samples_of(const std::vector<std::complex<double>>& bins) {
  const size_t size = 2 * (bins.size() - 1);
  std::vector<double> samples(size);
  for (size_t i = 0; i < size; ++i) {
    samples[i] = bins[0].real() + (i % 2 == 0 ? 1 : -1) * bins.back().real();
    for (size_t k = 1; k + 1 < bins.size(); ++k) {
      const double angle = 2 * std::numbers::pi * double(i * k % size) / double(size);
      samples[i] += 2 * (bins[k] * std::polar(1.0, angle)).real();
    }
  }
  return samples;
}

std::vector<double> band_energies(const std::vector<std::complex<double>>& bins,
                                  const std::vector<int>& edges) {
  std::vector<double> energies;
  for (size_t b = 0; b + 2 < edges.size(); ++b) {
    double sum = 0;
    for (int k = edges[b]; k < edges[b + 1]; ++k) {
      sum += std::norm(bins[size_t(k)]) * (k - edges[b]) / (edges[b + 1] - edges[b]);
    }
    for (int k = edges[b + 1]; k < edges[b + 2]; ++k) {
      sum += std::norm(bins[size_t(k)]) * (edges[b + 2] - k) / (edges[b + 2] - edges[b + 1]);
    }
    energies.push_back(sum);
  }
  return energies;
}

std::vector<int> mel_edges(int count, int size, double rate, double low, double high) {
  const auto mel = [](double f) { return 2595 * std::log10(1 + f / 700); };
  std::vector<int> edges;
  for (int i = 0; i < count + 2; ++i) {
    const double at = mel(low) + (mel(high) - mel(low)) * i / (count + 1);
    const int bin = int(std::lround(700 * (std::pow(10, at / 2595) - 1) * size / rate));
    edges.push_back(edges.empty() ? bin : std::max(bin, edges.back() + 1));
  }
  return edges;
}

std::vector<int16_t> recorded_samples(const std::string& path) {
  std::ifstream file(std::string(INTARSIA_EXAMPLES) + "/" + path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<int16_t> samples(bytes.size() / 2);
  std::memcpy(samples.data(), bytes.data(), samples.size() * 2);
  return samples;
}

}  // namespace intarsia::examples
