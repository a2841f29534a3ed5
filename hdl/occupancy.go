package hdl

// Occupancy is how many beats wait in a stream, named by the port that takes them.
type Occupancy struct {
	Port string
	N    int
}

// Occupied lists the streams in which beats wait as of the last edge, in the order
// of elaboration. At rest they are those that serve a block as a list of what is
// free: a bench compares them with what they were before a run.
func (k *Kernel) Occupied() []Occupancy {
	var list []Occupancy
	for _, s := range k.streams {
		if s.n != 0 {
			list = append(list, Occupancy{s.info.inPath, int(s.n)})
		}
	}
	return list
}
