package page

import "rnic/tb/story"

// motion is where the axes of time end: at the end of the run or, of a run that failed and
// in which nothing happened for most of the time, a little behind what happened last.
func motion(s *story.Story) int64 {
	var last int64
	for _, p := range s.Packets {
		last = max(last, p.EndPs, p.ArrivePs)
		for _, x := range p.Why {
			last = max(last, x.Ps)
		}
	}
	for _, w := range s.WRs {
		for _, x := range w.Stages {
			last = max(last, x.Ps)
		}
		for _, x := range w.Waits {
			last = max(last, x.ToPs)
		}
	}
	for _, q := range s.QPs {
		for _, x := range q.Events {
			last = max(last, x.Ps)
		}
	}
	if s.Failure == "" || last == 0 || last > s.EndPs/2 {
		return s.EndPs
	}
	return last + last/20
}

// buckets are those of the bandwidth up to the end of the axes, if that is not the run's.
const buckets = 128

// frameExtra is FCS, preamble and gap, bytes.
const frameExtra = 4 + 20

// bandwidth is the story's, or, if the axes end before the run, that of the packets kept up
// to there: the story's buckets are too wide then.
func bandwidth(s *story.Story, axis int64) (l []story.Bucket) {
	if axis >= s.EndPs || s.Forgotten.Packets > 0 {
		return s.Bandwidth
	}
	width := axis/buckets + 1
	for _, h := range s.Hosts {
		var bits [buckets]int64
		for _, p := range s.Packets {
			if i := p.Ps / width; p.Host == h && i >= 0 && i < buckets {
				bits[i] += int64(p.Bytes+frameExtra) * 8
			}
		}
		for i, n := range bits {
			l = append(l, story.Bucket{Host: h, Ps: int64(i) * width, Gbps: float64(n*1_000_000/width) / 1000})
		}
	}
	return l
}
